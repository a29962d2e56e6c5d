"""Rules that a release must meet, and whether it does."""
