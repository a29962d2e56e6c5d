"""Which released record is the target's: linkage by keys."""
