"""How parameters and names are written."""
