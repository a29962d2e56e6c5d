"""Answers questions one at a time and refuses those that would disclose a person."""
