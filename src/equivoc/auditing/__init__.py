"""What someone who saw the answers to a log of queries knows about each person."""
