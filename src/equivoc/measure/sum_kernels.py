"""Running sums of many probabilities. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def add_up(p, sums):
    """sums[i + 1] = sums[0] + p[0] + … + p[i], added from left to right."""
    total = sums[0]
    for i in range(len(p)):
        total += p[i]
        sums[i + 1] = total
