"""The least and greatest value of each person, given the answers."""
