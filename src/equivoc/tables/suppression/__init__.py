"""Which cells of a table to suppress, so that no unsafe cell can be computed from the others."""
