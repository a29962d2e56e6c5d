"""A protected file with its certificate, and the check of both."""
