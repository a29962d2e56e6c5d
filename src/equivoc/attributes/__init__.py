"""Confidential attributes: their kinds, domains, and distances between values."""
