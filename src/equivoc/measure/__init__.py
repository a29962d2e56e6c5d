"""The measure: numbers in, numbers out. Nothing here has heard of a table."""
