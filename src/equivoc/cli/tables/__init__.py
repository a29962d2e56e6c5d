"""The command ``table``: its sources, methods, comparison and output."""
