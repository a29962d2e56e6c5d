"""One file per kind of job: the library call, its facts, and its files."""
