"""Microaggregation: groups, means, and the intruders' channels."""
