"""What answers to queries disclose about single records: one file per kind of query."""
