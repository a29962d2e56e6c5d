"""Results as plain data, in words, as a page and in a notebook."""
