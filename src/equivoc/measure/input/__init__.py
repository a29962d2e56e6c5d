"""Checks of what a caller gives, and the forms in which the measure keeps it."""
