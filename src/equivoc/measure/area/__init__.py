"""The area under H for distributions with too many jumps to compute each: certified bounds, or an estimate."""
