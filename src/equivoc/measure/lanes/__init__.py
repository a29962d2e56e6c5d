"""Many posteriors over one grid: dense rows in parallel lanes, sparse rows one at a time, equal rows once."""
