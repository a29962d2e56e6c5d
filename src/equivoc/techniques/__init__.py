"""One file for each technique that releases records; `notation.py` reads `sampling:fraction=0.1`."""
