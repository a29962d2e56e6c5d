"""Every jump of H, from the right: evaluate, read off how wide the optimal windows are, go there. Compiled.

An optimal partition at ε whose widest window has diameter w stays optimal on [w, ε], so H is flat there and the next
place to look is the largest difference below w. Each evaluation thus yields one jump, with no list of the n(n−1)/2
differences. Where several partitions tie, the same level may come up again; then the level's left end is bisected.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.distribution import TIE_SHARE
from equivoc.measure.logarithm_kernels import phi
from equivoc.measure.partition_kernels import least_partition, widest_window

SMALL = 256
"""Up to this many values the plain recurrence over a table of φ beats the near-linear search."""

SAME_LEVEL = 7e-13
"""Two costs (in nats) closer than this are one level of H: rounding, not a jump."""


TIE = 2e-14
"""Sums of up to SMALL terms that differ by less may be equal: of those the narrower windows are preferred."""


@njit(cache=True, nogil=True)
def interval_table(cum, table):
    """table[i·(i − 1)/2 + j] = φ(P_i − P_j) for small distributions; nothing for large ones."""
    n = len(cum) - 1
    if n <= SMALL:
        k = 0
        for i in range(1, n + 1):
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


@njit(cache=True, nogil=True)
def _plain_level(x, table, limit, cost, width):
    """H in nats by the plain recurrence, and the widest window of the optimal partition with the narrowest windows.

    ``width[j]`` becomes the widest window from boundary j on in an optimal partition; most boundaries are in none.

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


@njit(cache=True, nogil=True)
def level_at(x, cum, d, rounding, table, overtaking, cost, width):
    """H at the difference d in nats, and the diameter of the widest window of an optimal partition.

    Differences that exceed d by no more than ``rounding`` (and a millionth) count as d.
    """
    limit = d + min(rounding, TIE_SHARE * d)
    if len(x) <= SMALL:
        return _plain_level(x, table, limit, cost, width)
    level, boundaries = least_partition(cum, x, x, limit, overtaking)
    return level, widest_window(x, x, boundaries)


@njit(cache=True, nogil=True)
def difference_below(x, bound):
    """The largest difference of two values that is smaller than ``bound``; 0 if there is none."""
    largest = 0.0
    k = 0
    for i in range(len(x)):
        while x[i] - x[k] >= bound:
            k += 1
        largest = max(largest, x[i] - x[k])
    return largest


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _left_end(x, cum, level, right, rounding, table, overtaking, cost, width):
    """The least difference at which H is still ``level``, and the level and width just below it."""
    below, below_level, below_width = 0.0, np.inf, 0.0
    while True:
        middle = 0.5 * (below + right)
        d = difference_below(x, min(np.nextafter(middle, np.inf), right))
        if d <= below:
            d = difference_above(x, middle)
            if d >= right:
                return right, below, below_level, below_width
        h, w = level_at(x, cum, d, rounding, table, overtaking, cost, width)
        if h <= level + SAME_LEVEL:
            right = min(w, d)
            if right <= below:
                return right, 0.0, np.inf, 0.0
        else:
            below, below_level, below_width = d, h, w


@njit(cache=True, nogil=True)
def descend(x, cum, h0, rounding, table, overtaking, cost, width, epsilons, levels):
    """Every level of H between 0 and ε_max: written (from the right) as its left end and its height in nats.

    With ``rounding`` 0 differences are taken as they are; else those that only rounding tells apart are one step.
    Returns how many there are and the area under them. Writes only what fits into ``epsilons``; a caller whose
    arrays were too short calls again with longer ones.
    """
    interval_table(cum, table)
    spread = x[len(x) - 1] - x[0]
    count, area = 0, 0.0
    level, low, right, ties = 0.0, spread, spread, 0
    while low > 0.0:
        d = difference_below(x, low)
        if d <= 0.0:
            h, w = h0, 0.0
        else:
            h, w = level_at(x, cum, d, rounding, table, overtaking, cost, width)
            if h <= level + SAME_LEVEL:
                low = min(w, d)
                ties += 1
                if ties < 2 or low <= 0.0:
                    continue
                low, d, h, w = _left_end(x, cum, level, low, rounding, table, overtaking, cost, width)
                if low <= 0.0:
                    break
                if d <= 0.0:
                    h, w = h0, 0.0
        if count < len(epsilons):
            epsilons[count], levels[count] = low, level
        count += 1
        area += level * (right - low)
        level, right, ties = max(h, level), low, 0
        low = min(w, d)
    if count == 0 and spread > 0.0:  # all but sure: h0 itself is lost in rounding, yet H is 0 from ε_max on
        if len(epsilons):
            epsilons[0], levels[0] = spread, 0.0
        count = 1
    if count < len(epsilons):
        epsilons[count], levels[count] = 0.0, h0
    area += h0 * right
    return count + 1, area
