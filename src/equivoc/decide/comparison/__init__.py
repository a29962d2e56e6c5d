"""Several techniques side by side: their risk, what they lose, and which to take."""
