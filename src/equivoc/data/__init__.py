"""Microdata: a table of people with confidential attributes and keys, and counts of their equivalence classes."""
