"""Independent cells, computed in parallel and kept in a folder: shared by studies and comparisons."""
