"""What the optimal windows give to the truth: bits of surprise at a tolerance. Compiled.

Optimal partitions need not be unique, and which of them a search returns depends on its direction. So each row is
searched from both ends and the surprises are averaged: mirroring the axis then changes nothing.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.search.logarithm_kernels import phi
from equivoc.measure.search.partition_kernels import least_costs
from equivoc.measure.search.window_kernels import reach

compiled = njit(cache=True, nogil=True, error_model="numpy")

FEW = 256
"""Up to this many values every window is tried, so that ties can be told from rounding."""
TIE = 1e-12
"""Nats: partitions whose costs differ by no more are equally good."""


@compiled
def _sources(x, cum, limit, cost, source):
    """The boundary at which the last window of each prefix starts; of equally good ones the first."""
    n = len(x)
    if n > FEW:
        least_costs(cum, x, x, limit, cost, source)
        return
    cost[0], source[0] = 0.0, 0
    oldest = 0
    for i in range(1, n + 1):
        while x[i - 1] - x[oldest] > limit:
            oldest += 1
        best = np.inf
        for j in range(oldest, i):
            here = cost[j] + phi(cum[i] - cum[j])
            if here < best - TIE:
                best, source[i] = here, j
        cost[i] = best


@compiled
def _add_bits(x, cum, limit, cost, source, mirrored, bits):
    """Add half of −log2 of the mass of its window to each value's bits."""
    n = len(x)
    _sources(x, cum, limit, cost, source)
    i = n
    while i > 0:
        j = source[i]
        half = -0.5 * math.log2(min(cum[i] - cum[j], 1.0))
        for t in range(j, i):
            bits[n - 1 - t if mirrored else t] += half
        i = j


@compiled
def surprises(weights, positions, bounds, totals, row_of, order, grid, room, eps, truths, truth_bounds, out):
    """For each class and each of its true values: −log2 of the mass of the optimal window that holds it, in bits.

    ``order`` lists the classes so that those with the same row follow each other. A value that the row rules out is
    infinitely surprising.
    """
    x, cum, bits = np.empty(room), np.empty(room + 1), np.empty(room)
    x_back, cum_back = np.empty(room), np.empty(room + 1)
    cost, source = np.empty(room + 1), np.empty(room + 1, np.int32)
    dense = len(positions) == 0
    row, s = -1, 0
    for c in order:
        if row_of[c] != row:
            row = row_of[c]
            s, cum[0], cum_back[0] = 0, 0.0, 0.0
            begin, end = bounds[row], bounds[row + 1]
            for t in range(begin, end):
                if weights[t] > 0:
                    x[s] = grid[t - begin if dense else positions[t]]
                    cum[s + 1] = cum[s] + weights[t] / totals[row]
                    s += 1
            k = 0
            for t in range(end - 1, begin - 1, -1):
                if weights[t] > 0:
                    x_back[k] = x[s - 1] - x[s - 1 - k]
                    cum_back[k + 1] = cum_back[k] + weights[t] / totals[row]
                    k += 1
            bits[:s] = 0.0
            limit = reach(x[0], x[s - 1], eps)
            _add_bits(x[:s], cum[: s + 1], limit, cost, source, False, bits)
            _add_bits(x_back[:s], cum_back[: s + 1], limit, cost, source, True, bits)
        for t in range(truth_bounds[c], truth_bounds[c + 1]):
            at = np.searchsorted(x[:s], truths[t])
            out[t] = bits[at] + 0.0 if at < s and x[at] == truths[t] else np.inf
