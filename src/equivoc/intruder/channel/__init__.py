"""P(released symbol | value) of mechanisms, and P(value | released symbol) for a prior."""
