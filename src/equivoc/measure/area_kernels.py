"""Cheap two-sided bounds of H(ε) for very many values. Compiled.

From below: windows over stretches of values (stretch_kernels.py). From above: around the heaviest windows of that
solution, or from both ends, windows laid as far out as they go on the real values. docs/method.md ("A certified area")
proves both.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.logarithm_kernels import phi
from equivoc.measure.stretch_kernels import reaches, solution


@njit(cache=True, nogil=True)
def _heaviest(cum, boundaries):
    """Of the windows between ``boundaries`` (falling) the locally heaviest: first stretch, stretch after the last."""
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
def _furthest(x, start, eps, guess):
    """The boundary at which the longest window that starts at boundary ``start`` ends, sought from ``guess`` on."""
    low, high, step = start, min(max(guess, start), len(x) - 1), 1
    while high < len(x) - 1 and x[high] - x[start] <= eps:
        low = high
        high, step = min(high + step, len(x) - 1), 2 * step
    step = 1
    while low < high:
        middle = max(high - step, (low + high + 1) // 2)
        if x[middle] - x[start] <= eps:
            low = middle
        else:
            high = middle - 1
        step *= 2
    return low + 1


@njit(cache=True, nogil=True)
def _earliest(x, end, eps, guess):
    """The boundary from which the longest window that ends at boundary ``end`` starts, sought from ``guess`` on."""
    low, high, step = max(min(guess, end - 1), 0), end - 1, 1
    while low > 0 and x[end - 1] - x[low] <= eps:
        high = low
        low, step = max(low - step, 0), 2 * step
    step = 1
    while low < high:
        middle = min(low + step - 1, (low + high) // 2)
        if x[end - 1] - x[middle] <= eps:
            high = middle
        else:
            low = middle + 1
        step *= 2
    return low


@njit(cache=True, nogil=True)
def _heaviest_from(x, cum, begin, end, eps):
    """The heaviest window that starts at one of the boundaries begin … end − 1."""
    stop = _furthest(x, begin, eps, begin)
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
    stop = guess = left
    while stop < right:
        start, stop = stop, min(_furthest(x, stop, eps, guess), right)
        chain_cost[length + 1] = chain_cost[length] + phi(cum[stop] - cum[start])
        chain[length + 1] = stop
        length += 1
        guess = 2 * stop - start
    least = chain_cost[length]
    k = length - 1
    end, cost, guess = right, 0.0, right
    while k >= 0:
        start = max(_earliest(x, end, eps, guess), left)
        guess = 2 * start - end
        while k >= 0 and chain[k] >= start:
            if chain[k] <= end:
                least = min(least, chain_cost[k] + phi(cum[end] - cum[chain[k]]) + cost)
            k -= 1
        cost += phi(cum[end] - cum[start])
        end = start
    return min(least, cost) if end == left else least


@njit(cache=True, nogil=True)
def above(x, cum, begins, solid, peaks, eps):
    """An upper bound of H(ε) in nats: a real partition around windows laid where the ``peaks`` are.

    Without peaks, windows are laid from both ends.
    """
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
            start, stop = begin, _furthest(x, begin, eps, begin)
        elif peaks[t, 1] == stretches:  # nor after the last one
            start, stop = max(_earliest(x, n, eps, n), done), n
        else:
            start, stop = _heaviest_from(x, cum, begin, end, eps)
        cost += _between(x, cum, done, start, eps, chain, chain_cost) + phi(cum[stop] - cum[start])
        done = stop
    return cost + _between(x, cum, done, n, eps, chain, chain_cost)


@njit(cache=True, nogil=True)
def _mean_above(x, cum, begins, solid, peaks, left, width, places, high, low):
    """An upper bound of the mean of H over [left, left + width], from bounds at evenly spaced places in it; the first.

    ``high`` bounds H from above at ``left``, ``low`` from below at the right end.
    """
    total, first, chosen = 0.0, high, len(peaks)
    for place in range(places):
        eps = left + width * (place / places)
        if eps > 0.0:
            found = above(x, cum, begins, solid, peaks[:chosen], eps)
            if chosen > 0 and place <= 1:  # the better way at one place is so at the others
                plain = above(x, cum, begins, solid, peaks[:0], eps)
                if plain <= found:
                    found, chosen = plain, 0
            high = min(high, found)
        if place == 0:
            first = high
        total += max(high, low)
    return total / places, first


@njit(cache=True, nogil=True)
def _bounds(x, cum, begins, solid, stretches, left, right, most, places, table):
    """Bounds of H in nats over [left, right], where it is at most ``most``: see docs/method.md.

    From below at the right end; the mean from above; from above at the left end; the number of the solution's
    windows, the heaviest one's mass, and how many windows there are to choose from.
    """
    masses, lows, highs, widest = stretches
    low, peaks, windows, heaviest, tried = 0.0, np.empty((0, 2), np.int64), 1, 1.0, 0
    if widest > right:  # no partition that costs less than ``most`` is left
        low = most
    elif x[len(x) - 1] - x[0] > right:
        cost, boundaries, tried = solution(masses, lows, highs, right, table)
        low = min(cost, most)
        peaks = _heaviest(masses, boundaries)
        windows = len(boundaries) - 1
        heaviest = -np.diff(masses[boundaries]).min()
    high = most
    if left > 0.0 and widest <= left and solid.all():
        # Nothing can be cut, so every solution is a real partition: however fine, the bounds must come together.
        high = min(high, solution(masses, lows, highs, left, table)[0])
    mean, first = _mean_above(x, cum, begins, solid, peaks, left, right - left, places, high, low)
    return low, mean, first, windows, heaviest, tried


@njit(cache=True, nogil=True)
def bounds(x, cum, begins, solid, left, right, parts, low, most, places, table):
    """The same for each of the equal parts of [left, right], where H lies between ``low`` and ``most`` nats.

    A row for each: where it begins and ends, the bound from below and from above, by how much its area is uncertain,
    then the three numbers.
    """
    lows, highs = reaches(x, begins, solid)
    stretches = (cum[begins], lows, highs, (lows - highs).max())
    found = np.empty((parts, 8))
    end = left
    for t in range(parts):
        begin, end = end, left + (right - left) * ((t + 1) / parts) if t + 1 < parts else right
        least, mean, first, windows, heaviest, tried = _bounds(
            x, cum, begins, solid, stretches, begin, end, most, places, table
        )
        least = max(least, low)
        found[t, 0], found[t, 1], found[t, 2], found[t, 3] = begin, end, least, first
        found[t, 4] = max(mean - least, 0.0) * (end - begin)
        found[t, 5], found[t, 6], found[t, 7] = windows, heaviest, tried
    return found
