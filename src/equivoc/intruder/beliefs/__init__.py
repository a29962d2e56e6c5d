"""Stronger intruders as functions of arrays: linkage, learning, and the comparison of posteriors with the truth."""
