"""Methods that protect tables of cells: compared, and the mildest setting of one chosen."""
