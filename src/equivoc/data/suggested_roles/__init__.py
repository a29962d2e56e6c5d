"""What each column of a table is likely to be: confidential, a key, weights, an identifier; with the reason."""
