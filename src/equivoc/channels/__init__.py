"""P(released value | true value), and from there back to the true value."""
