"""The measure: numbers in, numbers out. Nothing here depends on tables or files."""
