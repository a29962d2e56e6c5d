"""Measures of a release beside the original."""
