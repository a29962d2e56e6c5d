"""People in a table: who is confidential about what, and how many share each combination of keys."""
