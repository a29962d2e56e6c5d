"""Many posteriors over one grid: dense rows side by side, sparse rows one by one, equal rows once."""
