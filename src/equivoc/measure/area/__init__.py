"""The area under H where there are too many jumps to follow them all: certified, or estimated."""
