"""Files of statistics packages, spreadsheets, Arrow and R, as columns of Arrow."""
