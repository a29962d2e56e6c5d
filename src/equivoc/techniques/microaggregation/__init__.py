"""Microaggregation: groups, averages, and what intruders make of the means."""
