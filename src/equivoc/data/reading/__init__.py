"""Reads tables of any kind as levels and codes."""
