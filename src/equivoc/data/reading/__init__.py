"""Tables of any kind, as levels and codes."""
