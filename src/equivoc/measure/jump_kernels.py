"""The exact area for few values, and the kernels that find every jump of H. Compiled.

An optimal partition at ε whose widest window has diameter w stays optimal on [w, ε], so H is flat there and the next
place to look is the largest difference below w. Each evaluation thus yields one jump, with no list of the n(n−1)/2
differences.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.distribution import TIE_ROUNDING, TIE_SHARE
from equivoc.measure.partition_kernels import phi

compiled = njit(cache=True, nogil=True, error_model="numpy")

SMALL = 256
"""Up to this many values the plain recurrence over a table of φ beats the near-linear search."""

SAME_LEVEL = 7e-13
"""Two costs (in nats) closer than this are one level of H: the difference is rounding, not a jump."""

TIE = 2e-14
"""Sums of up to SMALL terms that differ by less count as equal; then narrower windows are preferred."""


@compiled
def plain_workspace(longest):
    """Arrays for distributions of up to ``longest`` values: a table of φ, costs of prefixes, widths of windows."""
    return np.empty((longest * (longest + 1)) // 2), np.empty(longest + 1), np.empty(longest + 1)


@compiled
def fill_table(cum, table):
    """table[i·(i − 1)/2 + j] = φ(P_i − P_j)."""
    k = 0
    for i in range(1, len(cum)):
        for j in range(i):
            table[k] = phi(cum[i] - cum[j])
            k += 1


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _least_sum(cost, table, row, begin, end):
    """min over j of cost[j] + table[row + j]: on its own, so that the compiler vectorises it."""
    least = 1e300
    for j in range(np.uintp(begin), np.uintp(end)):
        v = cost[j] + table[np.uintp(row) + j]
        least = v if v < least else least
    return least


@compiled
def plain_level(x, limit, table, cost, width):
    """H in nats by the plain recurrence, and the widest window of the optimal partition with the narrowest windows.

    ``width[j]`` becomes the widest window from boundary j on in an optimal partition, if j is in one.

    φ is subadditive: two neighbouring windows that one window covers are never better than that one. So what one window
    covers from the first value on is one window, and only the last window starts within reach of the last value.
    """
    n = len(x)
    last = 0
    while x[n - 1] - x[last] > limit:
        last += 1
    cost[0] = 0.0
    k = 0
    for i in range(1, n):
        while x[i - 1] - x[k] > limit:
            k += 1
        row = (i * (i - 1)) // 2
        cost[i] = table[row] if k == 0 else _least_sum(cost, table, row, k, min(i, last))
        width[i] = np.inf
    cost[n] = _least_sum(cost, table, (n * (n - 1)) // 2, last, n)
    width[0] = np.inf
    width[n] = 0.0
    for i in range(n, 0, -1):
        after = width[i]
        if after == np.inf:
            continue
        row = (i * (i - 1)) // 2
        most = cost[i] + TIE
        end = x[i - 1]
        j = i - 1
        while j >= 0 and end - x[j] <= limit:
            if cost[j] + table[row + j] <= most:
                width[j] = min(width[j], max(end - x[j], after))
            j -= 1
    return cost[n], width[0]


@compiled
def difference_below(x, bound):
    """The largest difference of two values that is smaller than ``bound``; 0 if there is none."""
    largest = 0.0
    k = 0
    for i in range(len(x)):
        while x[i] - x[k] >= bound:
            k += 1
        largest = max(largest, x[i] - x[k])
    return largest


@compiled
def difference_above(x, bound):
    """The smallest difference of two values that is larger than ``bound``; inf if there is none."""
    smallest = np.inf
    k = 0
    for i in range(len(x)):
        while x[i] - x[k] > bound:
            k += 1
        if k > 0:
            smallest = min(smallest, x[i] - x[k - 1])
    return smallest


@compiled
def exact_area(x, cum, h0, rounding, workspace):
    """The area under H in nats × unit, of up to SMALL values; ``h0`` is H(0) in nats.

    Differences that exceed another by at most ``rounding`` (and a millionth) count as equal to it.
    """
    table, cost, width = workspace
    fill_table(cum, table)
    low = right = x[len(x) - 1] - x[0]
    level, area = 0.0, 0.0
    while low > 0.0:
        d, h, w = difference_below(x, low), h0, 0.0
        if d > 0.0:
            h, w = plain_level(x, d + min(rounding, TIE_SHARE * d), table, cost, width)
            if h <= level + SAME_LEVEL:
                low = min(w, d)
                continue
        area += level * (right - low)
        level, right, low = max(h, level), low, min(w, d)
    return area + h0 * right


# Which values one window of length ε covers, and the heaviest such window. Compiled.


@njit(cache=True, nogil=True, inline="always")
def reach(lowest, highest, eps):
    """The largest difference that a window of length ε covers, between values from ``lowest`` to ``highest``.

    Ties are decided in favour of covering: a little more than ε (see TIE_ROUNDING), the same for every pair, so that
    H at ε with ties is H at the reach without.
    """
    return eps + min(TIE_ROUNDING * max(abs(lowest), abs(highest)), TIE_SHARE * eps)


@njit(cache=True, nogil=True)
def best_window(x, cum, eps):
    """V(ε): the mass of the heaviest window of length ε, and the items it covers (from, to); of several, the lowest.

    Windows with masses equal up to rounding count as equally heavy; the returned mass is the largest, so that it
    never decreases as ε grows.
    """
    most, heaviest, low, high = -1.0, -1.0, 0, 0
    k = 0
    limit = reach(x[0], x[-1], eps)
    for i in range(len(x)):
        while x[i] - x[k] > limit:
            k += 1
        mass = cum[i + 1] - cum[k]
        most = max(most, mass)
        if mass > heaviest + 1e-12:
            heaviest, low, high = mass, k, i
    return most, low, high
