"""How often the intruder's best guess is right: the middle of the heaviest window, ties shared. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.jump_kernels import reach
from equivoc.measure.partition_kernels import phi

TIE = 1e-12
"""Windows whose masses differ by no more than this share of the heaviest are equally heavy."""


@njit(cache=True, nogil=True, error_model="numpy")
def best_guesses(x, w, limit, mass, middle):
    """The middles of the heaviest windows of the values ``x`` with weights ``w``, ascending; returns how many.

    Windows inside another window do not count. ``mass`` and ``middle`` are buffers. The sliding sum is compensated
    (Neumaier), so that equal windows of many values stay equal.
    """
    total, lost, most = 0.0, 0.0, 0.0
    k, found, n = 0, 0, len(x)
    for i in range(n + 1):
        # The window k … i − 1 is complete when the next value does not fit, or when there is none.
        if i == n or x[i] - x[k] > limit:
            mass[found], middle[found] = total + lost, x[k] + 0.5 * (x[i - 1] - x[k])
            most = max(most, mass[found])
            found += 1
            if i == n:
                break
        while x[i] - x[k] > limit:
            total, lost = _plus(total, lost, -w[k])
            k += 1
        total, lost = _plus(total, lost, w[i])
    tied = 0
    for t in range(found):
        if mass[t] >= most * (1.0 - TIE):
            middle[tied] = middle[t]
            tied += 1
    return tied


@njit(cache=True, nogil=True)
def _plus(total, lost, term):
    """One step of a compensated sum."""
    after = total + term
    if abs(total) >= abs(term):
        lost += (total - after) + term
    else:
        lost += (term - after) + total
    return after, lost


@njit(cache=True, nogil=True, error_model="numpy")
def right_shares(weights, positions, bounds, row_of, order, grid, room, eps, truths, truth_bounds, out):
    """For each class and each of its true values: the share of the equally heavy windows whose middle is within ε/2.

    ``order`` lists the classes so that those with the same row follow each other; ``truths`` ascend within a class.
    """
    x, w, mass, middle = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    dense = len(positions) == 0
    row, tied, lowest, highest = -1, 0, 0.0, 0.0
    for c in order:
        if row_of[c] != row:
            row = row_of[c]
            s = 0
            for t in range(bounds[row], bounds[row + 1]):
                if weights[t] > 0:
                    x[s], w[s] = grid[t - bounds[row] if dense else positions[t]], weights[t]
                    s += 1
            lowest, highest = x[0], x[s - 1]
            tied = best_guesses(x[:s], w[:s], reach(lowest, highest, eps), mass, middle)
        first = past = 0
        for t in range(truth_bounds[c], truth_bounds[c + 1]):
            half = 0.5 * reach(min(lowest, truths[t]), max(highest, truths[t]), eps)
            while past < tied and middle[past] - truths[t] <= half:
                past += 1
            while first < past and truths[t] - middle[first] > half:
                first += 1
            out[t] = (past - first) / tied


# The surprise of true values at a tolerance: −log2 of the mass of their optimal windows. Compiled.
#
# Optimal partitions need not be unique, and which of them a search returns depends on its direction. So each
# row is searched from both ends and the surprises are averaged: mirroring the axis then changes nothing.

compiled = njit(cache=True, nogil=True, error_model="numpy")

FEW = 256
"""Up to this many values every window is tried, so that ties can be distinguished from rounding."""
TIED_COST = 1e-12
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
            if here <= best + TIED_COST:
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
