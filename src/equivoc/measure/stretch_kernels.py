"""Stretches of neighbouring values in place of values, and which of them no good partition cuts. Compiled.

A stretch is *solid* if it is known that no window ends inside it: then windows hold it whole or not at all. Of all
others a window may take the whole if it only touches them. docs/method.md ("A certified area") proves what that bounds.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np

from equivoc.measure.candidate_kernels import branching, vectorised
from equivoc.measure.logarithm_kernels import phi
from equivoc.measure.partition_kernels import least_partition
from equivoc.measure.prefix_kernels import least_costs
from equivoc.measure.turn_kernels import DOUBLES, INTEGERS
from equivoc.measure.window_kernels import first_within

FEW, ALWAYS_FEW = 16, 4000
"""Up to so many windows per stretch, and so many more, trying all of them is faster than the search."""
MORE = 150
"""After a search, up to so many windows per stretch are tried for what it leaves out."""
ROUNDING = 1e-9
"""Costs in nats that differ by less may be equal."""


@branching
def reaches(x, begins, solid):
    """What a window has to reach of its last stretch, and what of its first."""
    count = len(solid)
    lows, highs = np.empty(count), np.empty(count)
    for g in range(count):
        first, last = x[begins[g]], x[begins[g + 1] - 1]
        lows[g], highs[g] = (last, first) if solid[g] else (first, last)
    return lows, highs


@branching
def _count(first):
    """How many windows there are that start at ``first`` or later."""
    windows = 0
    for i in range(1, len(first)):
        windows += i - first[i]
    return windows


@branching
def _few(windows, count):
    return windows <= FEW * count + ALWAYS_FEW


@vectorised
def _least(cost, cum, here, begin, stop):
    least = np.inf
    for j in range(np.uintp(begin), np.uintp(stop)):
        v = cost[j] + phi(here - cum[j])
        least = v if v < least else least
    return least


@branching
def _tried_prefixes(cum, first):
    """The least cost of every prefix, in nats, by trying every window."""
    cost = np.empty(len(first))
    cost[0] = 0.0
    for i in range(1, len(first)):
        cost[i] = _least(cost, cum, cum[i], first[i], i)
    return cost


@branching
def solution(cum, lows, highs, eps, table):
    """The least cost in nats, the boundaries of a partition that attains it, from the last to 0, and how many windows
    there are to choose from."""
    count = len(lows)
    first = first_within(lows, highs, eps)
    windows = _count(first)
    if not _few(windows, count):
        cost, boundaries = least_partition(cum, lows, highs, eps, table)
        return cost, boundaries, windows
    prefixes = _tried_prefixes(cum, first)
    boundaries = np.empty(count + 1, np.int64)
    i, found = count, 0
    while i > 0:
        boundaries[found] = i
        found += 1
        best, least = i - 1, np.inf
        for j in range(first[i], i):
            v = prefixes[j] + phi(cum[i] - cum[j])
            if v < least:
                best, least = j, v
        i = best
    boundaries[found] = 0
    return prefixes[count], boundaries[: found + 1], windows


@branching
def _searched_prefixes(cum, lows, highs, eps, table, first):
    """The least cost of every prefix, or minus infinity where the search does not say and it would take too long.

    The search says S, the least cost where a window can start, and E, where one can end (prefix_kernels.py). Optimal
    partitions have no other boundaries, so anywhere else every window from one of these is tried.
    """
    count = len(lows)
    doubles, integers = np.empty((DOUBLES, count + 2)), np.empty((INTEGERS, count + 2), np.int32)
    found = least_costs(cum, lows, highs, eps, table, count, True, doubles, integers)
    starts, ends, start_cost, end_cost = found[0], found[1], found[5], found[6]
    known, cost = np.full(count + 1, np.inf), np.full(count + 1, -np.inf)
    for r in range(len(starts)):
        known[ends[r]] = min(known[ends[r]], end_cost[r])
        known[starts[r]] = min(known[starts[r]], start_cost[r])
        cost[starts[r]] = start_cost[r]
    cost[count] = known[count]
    windows = 0
    for i in range(count + 1):
        windows += i - first[i] if cost[i] == -np.inf else 0
    if windows <= MORE * count:
        for i in range(count + 1):
            if cost[i] == -np.inf:
                cost[i] = _least(known, cum, cum[i], first[i], i)
    return cost


@branching
def _prefixes(cum, lows, highs, eps, table):
    first = first_within(lows, highs, eps)
    if _few(_count(first), len(lows)):
        return _tried_prefixes(cum, first)
    return _searched_prefixes(cum, lows, highs, eps, table, first)


@branching
def may_cut_at(x, cum, begins, solid, eps, most, table):
    """Which boundaries a partition that costs less than ``most`` nats may have at ε."""
    lows, highs = reaches(x, begins, solid)
    count = len(lows)
    for g in range(count):
        if lows[g] - highs[g] > eps:
            return np.zeros(count + 1, np.bool_)
    masses = cum[begins]
    if lows[count - 1] - highs[0] <= eps:  # one window holds all, so two are the best way to have a boundary
        both = np.empty(count + 1)
        for b in range(count + 1):
            both[b] = phi(masses[b]) + phi(masses[count] - masses[b])
        return both <= most + ROUNDING
    before = _prefixes(masses, lows, highs, eps, table)
    behind = _prefixes(masses[count] - masses[::-1], -highs[::-1], -lows[::-1], eps, table)[::-1]
    return before + behind <= most + ROUNDING


@branching
def refined(x, begins, solid, may_cut, number):
    """Narrower stretches next to the boundaries where partitions may cut; all others solid, and joined.

    The narrower ones are as wide as ``number`` equal parts of the whole range.
    """
    count = len(solid)
    room = 0
    for g in range(count):
        room += begins[g + 1] - begins[g] if may_cut[g] or may_cut[g + 1] else 1
    new, new_solid = np.empty(room + 1, np.int64), np.empty(room, np.bool_)
    new[0] = 0
    unit = (x[len(x) - 1] - x[0]) / number
    k = 0
    for g in range(count):
        begin, end = begins[g], begins[g + 1]
        if solid[g] or not (may_cut[g] or may_cut[g + 1]):
            if k == 0 or may_cut[g] or not new_solid[k - 1]:
                k += 1
            new[k], new_solid[k - 1] = end, True
            continue
        while begin < end:
            border = x[0] + (np.floor((x[begin] - x[0]) / unit) + 1.0) * unit
            stop = begin + 1 + np.searchsorted(x[begin + 1 : end], border)
            k += 1
            new[k], new_solid[k - 1] = stop, stop - begin == 1
            begin = stop
    return new[: k + 1].copy(), new_solid[:k].copy()
