"""Which cells to withhold so that no unsafe cell can be computed closely."""
