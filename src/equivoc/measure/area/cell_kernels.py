"""Groups values into cells, so that the cost of H at a large tolerance depends on the number of cells. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np

from equivoc.measure.search.partition_kernels import compiled, least_costs


@compiled
def cells_of(x, width, begins):
    """Cut the values' range into cells of this width; how many hold a value, and where each of those begins."""
    n, count, i = len(x), 0, 0
    while i < n:
        border = x[0] + (math.floor((x[i] - x[0]) / width) + 1.0) * width
        begins[count] = i
        count += 1
        i += 1
        while i < n and x[i] < border:
            i += 1
    begins[count] = n
    return count


@compiled
def bounds_at(x, cum, eps, width):
    """A lower and an upper bound of H(ε) in nats, from cells of this width; exact H if cells would save little.

    For the lower bound a window covers every cell that it touches; for the upper bound only cells that lie inside it.
    """
    n = len(x)
    cost, source, begins = np.empty(n + 1), np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    count = cells_of(x, width, begins) if width > 0.0 else n
    if count > n // 3:
        exact = least_costs(cum, x, x, eps, cost, source)
        return exact, exact
    sums, lows, highs = np.empty(count + 1), np.empty(count), np.empty(count)
    sums[0] = 0.0
    for c in range(count):
        sums[c + 1], lows[c], highs[c] = cum[begins[c + 1]], x[begins[c]], x[begins[c + 1] - 1]
    low = least_costs(sums, lows, highs, eps, cost, source)
    return low, least_costs(sums, highs, lows, eps, cost, source)
