"""What commands print: tables, messages while they run, closed streams."""
