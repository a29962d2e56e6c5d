"""Sparse rows over one grid, one at a time on their own values. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.input.distribution import NATS_PER_BIT, TIE_ROUNDING
from equivoc.measure.search.jump_kernels import SMALL, exact_area, plain_workspace
from equivoc.measure.search.logarithm_kernels import phi
from equivoc.measure.search.partition_kernels import least_cost
from equivoc.measure.search.window_kernels import best_window, reach

compiled = njit(cache=True, nogil=True, error_model="numpy")

FEW = 64
"""Up to this many values, trying every window is faster than the near-linear search."""


@compiled
def _support(weights, positions, begin, end, grid, total, x, cum):
    """A row's support as sorted values and cumulative probabilities; returns its size."""
    s = 0
    cum[0] = 0.0
    dense = len(positions) == 0
    for t in range(begin, end):
        if weights[t] > 0:
            x[s] = grid[t - begin if dense else positions[t]]
            cum[s + 1] = cum[s] + weights[t] / total
            s += 1
    return s


@compiled
def sparse_rows(weights, positions, bounds, totals, which, grid, room, h0, area, spread):
    """h0 and ε_max of the rows ``which``, and the exact area of those whose support is at most SMALL (else NaN)."""
    x, cum = np.empty(room), np.empty(room + 1)
    workspace = plain_workspace(min(room, SMALL))
    for q in range(len(which)):
        r = which[q]
        s = _support(weights, positions, bounds[r], bounds[r + 1], grid, totals[r], x, cum)
        h = 0.0
        for t in range(bounds[r], bounds[r + 1]):
            h += phi(weights[t] / totals[r])
        h0[q] = h / NATS_PER_BIT
        spread[q] = x[s - 1] - x[0]
        if s == 1:
            h0[q] = 0.0
            area[q] = 0.0
        elif s == 2:
            area[q] = h / NATS_PER_BIT * spread[q]
        elif s <= SMALL:
            rounding = TIE_ROUNDING * max(abs(x[0]), abs(x[s - 1]))
            area[q] = exact_area(x[:s], cum[: s + 1], h, rounding, workspace) / NATS_PER_BIT
        else:
            area[q] = np.nan


@compiled
def sparse_entropies(weights, positions, bounds, totals, which, grid, room, eps, out):
    """H(ε) in bits of the rows ``which``, for every ε of ``eps`` (one column each)."""
    x, cum = np.empty(room), np.empty(room + 1)
    cost = np.empty(room + 1)
    for q in range(len(which)):
        r = which[q]
        s = _support(weights, positions, bounds[r], bounds[r + 1], grid, totals[r], x, cum)
        for e in range(len(eps)):
            limit = reach(x[0], x[s - 1], eps[e])
            if x[s - 1] - x[0] <= limit:
                out[q, e] = 0.0
            elif s > FEW:
                out[q, e] = least_cost(cum[: s + 1], x[:s], x[:s], limit) / NATS_PER_BIT
            else:
                cost[0] = 0.0
                k = 0
                for i in range(1, s + 1):
                    while x[i - 1] - x[k] > limit:
                        k += 1
                    least = math.inf
                    for j in range(k, i):
                        least = min(least, cost[j] + phi(cum[i] - cum[j]))
                    cost[i] = least
                out[q, e] = max(cost[s] / NATS_PER_BIT, 0.0)


@compiled
def sparse_hits(weights, positions, bounds, totals, which, grid, room, eps, out, low, high):
    """V(ε) of the rows ``which`` and the grid values between which its heaviest window lies."""
    x, cum = np.empty(room), np.empty(room + 1)
    for q in range(len(which)):
        r = which[q]
        s = _support(weights, positions, bounds[r], bounds[r + 1], grid, totals[r], x, cum)
        mass, a, b = best_window(x[:s], cum[: s + 1], eps)
        out[q], low[q], high[q] = min(mass, 1.0), x[a], x[b]
