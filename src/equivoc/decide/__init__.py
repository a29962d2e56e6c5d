"""Decisions between releases: comparison, choice, protection."""
