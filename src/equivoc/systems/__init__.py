"""Systems of sums: what answered queries or published totals leave possible."""
