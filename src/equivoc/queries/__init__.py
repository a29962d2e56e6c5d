"""What the answers to queries give away about single records: one file per kind of query."""
