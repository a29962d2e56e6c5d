"""Releases, and files from other tools: what their symbols mean, and which record is whose."""
