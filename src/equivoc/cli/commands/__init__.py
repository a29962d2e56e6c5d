"""One file per command; each only calls the library."""
