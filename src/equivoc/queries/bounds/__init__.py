"""The least and greatest value that answers leave each person, and answers that contradict each other."""
