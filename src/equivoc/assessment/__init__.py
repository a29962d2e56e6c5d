"""One release assessed: every figure computed once."""
