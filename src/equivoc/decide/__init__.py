"""What to do with the figures: compare techniques, choose one, write the protected file."""
