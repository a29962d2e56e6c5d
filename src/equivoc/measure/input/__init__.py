"""Checks of the measure's input, and the forms in which it is kept."""
