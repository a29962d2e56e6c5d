"""Numbers in, numbers out: H(ε), its windows and its area. Does not depend on tables."""
