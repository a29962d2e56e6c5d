"""Cheap two-sided bounds of H(ε) for very many values. Compiled.

From below: neighbouring values merged into groups, with windows that need only *touch* their first and last group.
From above: around the heaviest windows of that solution, windows laid as far out as they go on the real values.
docs/method.md ("A certified area") proves both.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.logarithm_kernels import phi
from equivoc.measure.stretch_kernels import reaches, solution


@njit(cache=True, nogil=True)
def _heaviest(cum, boundaries):
    """The locally heaviest of the windows between ``boundaries`` (falling), as (first stretch, stretch after the last)."""
    boundaries = boundaries[::-1]
    windows = len(boundaries) - 1
    peaks = np.empty((windows, 2), np.int64)
    found = 0
    before = -1.0
    for w in range(windows):
        mass = cum[boundaries[w + 1]] - cum[boundaries[w]]
        after = cum[boundaries[w + 2]] - cum[boundaries[w + 1]] if w + 1 < windows else -1.0
        if mass >= after and mass > before:
            peaks[found, 0], peaks[found, 1] = boundaries[w], boundaries[w + 1]
            found += 1
        before = mass
    return peaks[:found]


@njit(cache=True, nogil=True)
def _furthest(x, start, eps):
    """The boundary at which the longest window that starts at boundary ``start`` ends."""
    low, high = start, len(x) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if x[middle] - x[start] <= eps:
            low = middle
        else:
            high = middle - 1
    return low + 1


@njit(cache=True, nogil=True)
def _earliest(x, end, eps):
    """The boundary from which the longest window that ends at boundary ``end`` starts."""
    low, high = 0, end - 1
    while low < high:
        middle = (low + high) // 2
        if x[end - 1] - x[middle] <= eps:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def _heaviest_from(x, cum, begin, end, eps):
    """The heaviest window that starts at one of the boundaries begin … end − 1."""
    stop = _furthest(x, begin, eps)
    best, best_start, best_stop = cum[stop] - cum[begin], begin, stop
    for start in range(begin + 1, end):
        while stop < len(x) and x[stop] - x[start] <= eps:
            stop += 1
        if cum[stop] - cum[start] > best:
            best, best_start, best_stop = cum[stop] - cum[start], start, stop
    return best_start, best_stop


@njit(cache=True, nogil=True)
def _between(x, cum, left, right, eps, chain, chain_cost):
    """The least cost of the values between two fixed windows: windows laid out from both, one valley between.

    Every number of windows from the left is tried; the chain from the right meets it.
    """
    if left >= right:
        return 0.0
    length = 0
    chain[0], chain_cost[0] = left, 0.0
    while chain[length] < right:
        stop = min(_furthest(x, chain[length], eps), right)
        chain_cost[length + 1] = chain_cost[length] + phi(cum[stop] - cum[chain[length]])
        chain[length + 1] = stop
        length += 1
    least = chain_cost[length]
    k = length - 1
    end, cost = right, 0.0
    while k >= 0:
        start = max(_earliest(x, end, eps), left)
        while k >= 0 and chain[k] >= start:
            if chain[k] <= end:
                least = min(least, chain_cost[k] + phi(cum[end] - cum[chain[k]]) + cost)
            k -= 1
        cost += phi(cum[end] - cum[start])
        end = start
    return min(least, cost) if end == left else least


@njit(cache=True, nogil=True)
def above(x, cum, begins, solid, peaks, eps):
    """An upper bound of H(ε) in nats: a real partition around windows laid where the ``peaks`` are."""
    n = len(x)
    room = min(n, int(2.0 * (x[n - 1] - x[0]) / eps) + 2) + 1  # two windows in a row are wider than ε
    chain, chain_cost = np.empty(room, np.int64), np.empty(room)
    done = 0
    cost = 0.0
    stretches = len(begins) - 1
    for t in range(len(peaks)):
        first = peaks[t, 0]
        begin = max(begins[first], done)
        end = begins[first + 1] if not solid[first] else begins[first] + 1
        if first + 1 < stretches and not solid[first] and not solid[first + 1]:
            end = begins[first + 2]
        if end <= done:
            continue
        if begin == done:  # nothing is left over between the windows before and this one
            start, stop = begin, _furthest(x, begin, eps)
        elif peaks[t, 1] == stretches:  # nor after the last one
            start, stop = max(_earliest(x, n, eps), done), n
        else:
            start, stop = _heaviest_from(x, cum, begin, end, eps)
        cost += _between(x, cum, done, start, eps, chain, chain_cost) + phi(cum[stop] - cum[start])
        done = stop
    cost += _between(x, cum, done, n, eps, chain, chain_cost)
    return min(cost, _between(x, cum, 0, n, eps, chain, chain_cost))


@njit(cache=True, nogil=True)
def _mean_above(x, cum, begins, solid, peaks, left, width, places, high, low):
    """An upper bound of the mean of H over [left, left + width], from bounds at evenly spaced places in it; the first.

    ``high`` bounds H from above at ``left``, ``low`` from below at the right end.
    """
    total, first = 0.0, high
    for place in range(places):
        eps = left + width * (place / places)
        if eps > 0.0:
            high = min(high, above(x, cum, begins, solid, peaks, eps))
        if place == 0:
            first = high
        total += max(high, low)
    return total / places, first


@njit(cache=True, nogil=True)
def bounds(x, cum, begins, solid, left, right, most, places, table):
    """Bounds of H in nats over [left, right], where it is at most ``most``: see docs/method.md.

    From below at the right end; the mean from above; from above at the left end; the number of windows of the solution, and the heaviest one's mass.
    """
    lows, highs = reaches(x, begins, solid)
    masses = cum[begins]
    widest = (lows - highs).max()
    low, peaks, windows, heaviest = 0.0, np.empty((0, 2), np.int64), 1, 1.0
    if widest > right:  # no partition that costs less than ``most`` is left
        low = most
    elif x[len(x) - 1] - x[0] > right:
        cost, boundaries = solution(masses, lows, highs, right, table)
        low = min(cost, most)
        peaks = _heaviest(masses, boundaries)
        windows = len(boundaries) - 1
        heaviest = -np.diff(masses[boundaries]).min()
    high = most
    if solid.all() and widest <= left:
        # Nothing can be cut, so every solution is a real partition: however fine, the bounds must come together.
        high = min(high, solution(masses, lows, highs, left, table)[0])
    mean, first = _mean_above(x, cum, begins, solid, peaks, left, right - left, places, high, low)
    return low, mean, first, windows, heaviest
