"""Running sums of many probabilities, from the left or from the right. Compiled."""

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


@njit(cache=True, nogil=True)
def mirror(x, p, values, sums):
    """values = −x_n … −x_1, and the running sums of their probabilities from 0 on."""
    total = 0.0
    sums[0] = 0.0
    last = np.uintp(len(x) - 1)
    for i in range(np.uintp(len(x))):
        values[i] = -x[last - i]
        total += p[last - i]
        sums[i + np.uintp(1)] = total
