"""The strengths of an intruder of released records: informed, with a register, learned, and the strongest of them."""
