"""Sums of many probabilities. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_up(p, sums):
    """sums[i + 1] = sums[0] + p[0] + … + p[i], added from left to right."""
    total = sums[0]
    for i in range(len(p)):
        total += p[i]
        sums[i + 1] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def sum_and_least_of(p):
    """The sum, in any order, and the least."""
    total, least = 0.0, p[0]
    for i in range(np.uintp(len(p))):
        total += p[i]
        least = p[i] if p[i] < least else least
    return total, least
