"""Which ends of windows are worth a place in the search for the best one. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.logarithm_kernels import phi

NEAR, FURTHER = 8, 64
"""How many starts the first and the second stretch hold when an end is asked whether it can lead anywhere."""
CHUNK = 64
"""How many ends are asked at a time, so that what is noted about them stays in the nearest cache."""

ROUNDING = 1e-12
"""Costs in nats that differ by less may be those of one and the same prefix, summed up in another order."""

vectorised = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nnan", "nsz"})
branching = njit(cache=True, nogil=True, error_model="numpy")


@branching
def not_behind(start_cost, start_mass, end_cost, end_mass, after, begin, stop, listed):
    """List the ends begin … stop − 1, without those at a boundary that a start reaches for less."""
    count = 0
    for b in range(begin, stop):
        a = after[b] - 1
        listed[count] = b
        count += (start_mass[a] != end_mass[b]) | (start_cost[a] >= end_cost[b] - ROUNDING)
    return count


@vectorised
def most_ahead(start_cost, start_mass, slope, begin, stop, near, further, rest):
    """The largest S − slope · P among the next NEAR starts, the next FURTHER and all in the block, from each one on."""
    first, count = np.uintp(begin), stop - begin
    for t in range(np.uintp(count)):
        near[t] = start_cost[first + t] - slope * start_mass[first + t]
    highest = near[count - 1]
    for t in range(count - 1, -1, -1):
        highest = near[t] if near[t] > highest else highest
        rest[t] = highest
    step = np.uintp(1)
    while step < FURTHER:
        if step == NEAR:
            for t in range(np.uintp(count)):
                further[t] = near[t]
        table = near if step < NEAR else further
        for t in range(np.uintp(max(count - np.int64(step), 0))):
            table[t] = table[t + step] if table[t + step] > table[t] else table[t]
        step *= np.uintp(2)


@vectorised
def _detrended(masses, count, slope):
    for t in range(np.uintp(count)):
        masses[t] = phi(masses[t]) - slope * masses[t]


@branching
def _stretches(first, final):
    """Where the three stretches begin that start with ``first`` and end with ``final``."""
    first = min(first, final)
    second = min(first + NEAR, final)
    return first, second, min(second + FURTHER, final)


@branching
def can_lead(
    end_cost, end_mass, start_mass, after, slope, begin, stop, listed, count, near, further, rest, gains
):
    """Of the listed ends keep those that might lead to a start of the block for less than is known already.

    φ(v) − slope · v is concave, so over a stretch of starts it is least at one of the stretch's two ends.
    """
    kept = 0
    final = stop - 1
    for t0 in range(0, count, CHUNK):
        t1 = min(t0 + CHUNK, count)
        g = 0
        for t in range(t0, t1):
            b = listed[t]
            first, second, third = _stretches(after[b], final)
            gains[g] = start_mass[first] - end_mass[b]
            gains[g + 1] = start_mass[second] - end_mass[b]
            gains[g + 2] = start_mass[third] - end_mass[b]
            gains[g + 3] = start_mass[final] - end_mass[b]
            g += 4
        _detrended(gains, g, slope)
        g = 0
        for t in range(t0, t1):
            b = listed[t]
            first, second, third = _stretches(after[b], final)
            level = end_cost[b] - slope * end_mass[b]
            listed[kept] = b
            kept += (
                (level + min(gains[g], gains[g + 1]) < near[first - begin])
                | (level + min(gains[g + 1], gains[g + 2]) < further[second - begin])
                | (level + min(gains[g + 2], gains[g + 3]) < rest[third - begin])
            )
            g += 4
    return kept
