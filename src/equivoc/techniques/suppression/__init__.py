"""Local suppression of single key values."""
