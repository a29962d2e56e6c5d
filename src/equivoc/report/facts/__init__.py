"""The facts of reports as plain data: what pages, JSON and the terminal show."""
