"""Data swapping: random pairs and rank swapping."""
