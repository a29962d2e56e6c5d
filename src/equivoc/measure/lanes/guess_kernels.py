"""How often the intruder's best guess is right: the middle of the heaviest window, ties shared. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.search.window_kernels import reach

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
