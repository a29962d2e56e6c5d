"""Estimates of the population behind a sample, from the sample alone."""
