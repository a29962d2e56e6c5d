"""Posteriors: what a prior and released evidence say about each person, for intruders of different strengths."""
