"""Which released record is the target's: by keys, by keys and numbers of people, with a register, by distance."""
