"""Generalisation of keys: Mondrian, and hierarchies with an exact search."""
