"""What every HTTP service of ours has: a bound socket, an orderly stop, checked Host headers, limited bodies."""
