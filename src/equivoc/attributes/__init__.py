"""Kinds of confidential attributes, their hierarchies and distances; how their values are written."""
