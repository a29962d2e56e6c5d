"""The surprise of true values at a tolerance: −log2 of the mass of their optimal windows. Compiled.

Optimal partitions need not be unique, and which of them a search returns depends on its direction. So each row is
searched from both ends and the surprises are averaged: mirroring the axis then changes nothing.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.search.logarithm_kernels import phi
from equivoc.measure.search.window_kernels import reach

compiled = njit(cache=True, nogil=True, error_model="numpy")

FEW = 256
"""Up to this many values every window is tried, so that ties can be distinguished from rounding."""
TIE = 1e-12
"""Nats: partitions whose costs differ by no more are equally good."""


@compiled
def _add_bits(x, w, n, limit, backward, cost, source, bits):
    """Add half of −log2 of the mass of its window to each value's bits; of equally good windows the longest counts.

    ``backward`` searches from the last value to the first.
    """
    cost[0], source[0] = 0.0, 0
    for i in range(1, n + 1):
        last = x[n - i] if backward else x[i - 1]
        best, mass = np.inf, 0.0
        for j in range(i - 1, -1, -1):
            k = n - 1 - j if backward else j
            if abs(x[k] - last) > limit:
                break
            mass += w[k]
            here = cost[j] + phi(mass)
            if here <= best + TIE:
                best, source[i] = min(here, best), j
        cost[i] = best
    i = n
    while i > 0:
        j = source[i]
        mass = 0.0
        for t in range(j, i):
            mass += w[n - 1 - t if backward else t]
        half = -0.5 * math.log2(min(mass, 1.0))
        for t in range(j, i):
            bits[n - 1 - t if backward else t] += half
        i = j


@compiled
def surprises(weights, positions, bounds, totals, row_of, order, grid, eps, truths, truth_bounds, out):
    """For each class and each of its true values: −log2 of the mass of the optimal window that holds it, in bits.

    ``order`` lists the classes so that those with the same row follow each other. A value that the row rules out is
    infinitely surprising; the truths of rows with more than FEW values get NaN.
    """
    x, w, bits = np.empty(FEW), np.empty(FEW), np.empty(FEW)
    cost, source = np.empty(FEW + 1), np.empty(FEW + 1, np.int64)
    dense = len(positions) == 0
    row, n = -1, 0
    for c in order:
        if row_of[c] != row:
            row, n = row_of[c], 0
            begin, end = bounds[row], bounds[row + 1]
            for t in range(begin, end):
                if weights[t] > 0:
                    if n < FEW:
                        x[n] = grid[t - begin if dense else positions[t]]
                        w[n] = weights[t] / totals[row]
                    n += 1
            if n <= FEW:
                bits[:n] = 0.0
                limit = reach(x[0], x[n - 1], eps)
                for side in range(2):  # a loop, so that it is compiled once and not for each constant
                    _add_bits(x, w, n, limit, side == 1, cost, source, bits)
        for t in range(truth_bounds[c], truth_bounds[c + 1]):
            if n > FEW:
                out[t] = np.nan
                continue
            at = np.searchsorted(x[:n], truths[t])
            out[t] = bits[at] + 0.0 if at < n and x[at] == truths[t] else np.inf
