"""The command line: one file for each group of commands. Commands read options, call the library and print."""
