"""One exact H(ε), every jump of H, and the heaviest window: the search for optimal partitions."""
