"""Differentially private values and counts."""
