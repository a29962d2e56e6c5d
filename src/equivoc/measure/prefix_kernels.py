"""One exact H(ε): the least cost of every prefix that matters, turn by turn. Compiled.

docs/method.md derives it. Of two adjacent windows of an optimal partition the heavier one cannot be extended across
their boundary. So each boundary is a *start* (the window after it can reach no further left) or an *end* (the window
before it can reach no further right), see turn_kernels.py. In nats, with φ(q) = −q ln q, P the cumulative probability,

    E(b) = min of  S(b − 1) + φ(P(ends[b]) − P(starts[b − 1]))                      a window from a start to an end
           and     E(k) + φ(P(ends[b]) − P(ends[k])) where after[k] = b             from an end to an end
    S(a) = min of  S(before[a]) + φ(P(starts[a]) − P(starts[before[a]]))            from a start to a start
           and     E(b) + φ(P(starts[a]) − P(ends[b])), before[before[a]] < b ≤ before[a]    from an end to a start.

Only the last line needs a search, and every E it needs is known before it begins. In a block, the starts between the
ends ``old`` and ``new`` = after[old], the ends before ``old`` only expire and those from ``old`` on only arrive.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np

from equivoc.measure.candidate_kernels import (
    CHUNK,
    JUDGED_AT_ONCE,
    TRIED,
    branching,
    list_corners,
    neighbour_slopes,
    try_nearest,
    vectorised,
)
from equivoc.measure.logarithm_kernels import phi
from equivoc.measure.search_kernels import search_back, search_forward
from equivoc.measure.turn_kernels import turns

FEW = 24
"""Up to this many ends within reach, every one is tried."""


@vectorised
def _phi_of(masses, count):
    for t in range(np.uintp(count)):
        masses[t] = phi(masses[t])


@vectorised
def _from_start_to_start(start_cost, start_mass, before, begin, stop, window):
    """The first line of S for the starts begin … stop − 1."""
    first, count = np.uintp(begin), np.uintp(stop - begin)
    for t in range(count):
        window[t] = start_mass[first + t] - start_mass[np.uintp(before[first + t])]
    _phi_of(window, count)
    for t in range(count):
        start_cost[first + t] = start_cost[np.uintp(before[first + t])] + window[t]


@vectorised
def _to_ends(start_cost, start_mass, end_cost, end_mass, after, begin, stop, window):
    """E for the ends begin + 1 … stop, and what the ends begin … stop − 1 have to offer to later ones."""
    first, count = np.uintp(begin), np.uintp(stop - begin)
    next_one = np.uintp(begin + 1)
    for t in range(count):
        window[t] = end_mass[next_one + t] - start_mass[first + t]
    _phi_of(window, count)
    for t in range(count):
        v = start_cost[first + t] + window[t]
        end_cost[next_one + t] = v if v < end_cost[next_one + t] else end_cost[next_one + t]
    for t in range(count):
        window[t] = end_mass[np.uintp(after[first + t])] - end_mass[first + t]
    _phi_of(window, count)
    for t in range(count):
        to = np.uintp(after[first + t])
        v = end_cost[first + t] + window[t]
        end_cost[to] = v if v < end_cost[to] else end_cost[to]


@vectorised
def _take_best(start_cost, start_mass, end_cost, end_mass, source, begin, stop, window, offered):
    """Lower S where the end that the search found (``source``) is better."""
    first, count = np.uintp(begin), np.uintp(stop - begin)
    for t in range(count):
        b = np.uintp(source[t])
        window[t] = start_mass[first + t] - end_mass[b]
        offered[t] = end_cost[b]
    _phi_of(window, count)
    for t in range(count):
        v = offered[t] + window[t]
        start_cost[first + t] = v if v < start_cost[first + t] else start_cost[first + t]


@vectorised
def _try_all(start_cost, start_mass, end_cost, end_mass, before, begin, stop):
    """The second line of S by trying every end: quicker than any search where there are few."""
    for a in range(begin, stop):
        mass, least = start_mass[a], start_cost[a]
        for b in range(np.uintp(before[before[a]] + 1), np.uintp(before[a] + 1)):
            v = end_cost[b] + phi(mass - end_mass[b])
            least = v if v < least else least
        start_cost[a] = least


@branching
def _widest_block(after, last):
    """The most starts or ends that a block holds."""
    old, new = 0, 1
    widest = after[new] - after[old]
    while new < last:
        old, new = new, min(after[new], last)
        widest = max(widest, new - old, after[new] - after[old])
    return widest


@branching
def least_costs(cum, lows, highs, limit, table, far, every_start, doubles, integers):
    """S and E of all starts and ends up to the first end at or beyond the boundary ``far``, with their turns.

    Unless ``every_start`` is asked for, S is left out for those in the last block that lead nowhere: all but its last.

    What it returns lies in ``doubles`` and ``integers`` (see turn_kernels.py for how much of each).
    """
    starts, ends, start_mass, end_mass, before, after = turns(lows, highs, cum, limit, doubles, integers)
    last = len(starts) - 1
    start_cost, end_cost = doubles[2], doubles[3]
    start_cost[: last + 2] = np.inf
    end_cost[: last + 2] = np.inf
    which = integers[4]
    which[0] = last + 1  # an end that costs too much to be taken
    while last > 1 and ends[last - 1] >= far:
        last -= 1
    room = _widest_block(after, last)
    window, offered = np.empty(max(room, 2 * TRIED * CHUNK)), np.empty(max(room, 2 * TRIED * CHUNK))
    slopes, older_slopes = np.empty((2, room + 1)), np.empty((2, room + 1))
    corner = np.empty(JUDGED_AT_ONCE, np.uint8)
    corners, source = np.empty(room + 1, np.int32), np.empty(room, np.int32)
    known = (start_mass, end_cost, end_mass, after)
    stack = (np.empty(room + 2), np.empty(room + 2), which)
    start_cost[0] = end_cost[0] = 0.0
    older, old, new, begin = 0, 0, 1, 1
    after_few = True
    _to_ends(start_cost, start_mass, end_cost, end_mass, after, 0, 1, window)
    while True:
        stop = after[new]
        if new == last and not every_start:
            begin = stop - 1
        _from_start_to_start(start_cost, start_mass, before, begin, stop, window)
        few = new - older <= FEW or stop - begin == 1
        if few:
            _try_all(start_cost, start_mass, end_cost, end_mass, before, begin, stop)
        else:
            if after_few:
                neighbour_slopes(end_cost, end_mass, older, old, older_slopes)
            neighbour_slopes(end_cost, end_mass, old, new, slopes)
            try_nearest(start_cost, start_mass, end_cost, end_mass, before, begin, stop, window, offered)
            lowest, highest = start_mass[begin], start_mass[stop - 1]
            count = list_corners(end_mass, after, older, old, older_slopes, lowest, highest, corner, corners)
            search_back(known, corners, count, begin, stop, table, stack, source)
            _take_best(start_cost, start_mass, end_cost, end_mass, source, begin, stop, window, offered)
            count = list_corners(end_mass, after, old, new, slopes, lowest, highest, corner, corners)
            search_forward(known, corners, count, begin, stop, table, stack, source)
            _take_best(start_cost, start_mass, end_cost, end_mass, source, begin, stop, window, offered)
        if new == last:
            return starts, ends, before, start_mass, end_mass, start_cost, end_cost, stop, new
        older, old, begin = old, new, stop
        slopes, older_slopes, after_few = older_slopes, slopes, few
        new = min(after[new], last)
        _to_ends(start_cost, start_mass, end_cost, end_mass, after, old, new, window)
