"""Counts of people by keys and value."""
