"""A gateway that answers aggregate questions about people exactly, or refuses before someone is disclosed."""
