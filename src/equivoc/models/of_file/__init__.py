"""Measures of one file by itself."""
