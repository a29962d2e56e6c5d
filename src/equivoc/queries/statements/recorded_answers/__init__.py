"""Answers that were recorded with the statements: in comments, in a file, or in a list."""
