"""Which boundaries an optimal partition can have, and how windows lead from one to another. Compiled.

Slide a window of length ε over the sorted values. Its right end moves on until the next value is out of reach; then its
left end moves on until that value is within reach. The r-th time that happens (a *turn*) leaves two boundaries:

- ``ends[r]``, where a window ends because it can reach no further right;
- ``starts[r]``, where a window starts because it can reach no further left.

Boundary 0 is the first of both, the last boundary the last of both. A window that starts at boundary j can reach
``ends[number of starts ≤ j]``, one that ends at boundary i can begin at ``starts[number of ends before i − 1]``.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

DOUBLES, INTEGERS = 4, 7
"""How many rows of room for n + 2 doubles and 32-bit integers the search for n items takes. Callers bring it: where it
is large, memory that NumPy asks for comes in larger pages, which takes a tenth of the time."""


@njit(cache=True, nogil=True, inline="always")
def _step(lows, highs, limit, within, beyond, i, k):
    """Move the window's right end i or its left end k by one.

    It writes what it might have to write: a branch that depends on the data costs more.
    """
    out_of_reach = np.uintp(lows[i] - highs[k] > limit)
    within[i] = k
    beyond[k] = i
    return i + (np.uintp(1) - out_of_reach), k + out_of_reach


@njit(cache=True, nogil=True)
def _first_within(lows, highs, limit, item):
    """The first item that a window which ends with ``item`` covers."""
    low, high = 0, item
    while low < high:
        middle = (low + high) // 2
        if lows[item] - highs[middle] > limit:
            low = middle + 1
        else:
            high = middle
    return np.uintp(low)


@njit(cache=True, nogil=True)
def _first_beyond(lows, highs, limit, item):
    """The first item that a window which starts with ``item`` does not reach."""
    low, high = item + 1, len(lows)
    while low < high:
        middle = (low + high) // 2
        if lows[middle] - highs[item] > limit:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def _slide(lows, highs, limit, within, beyond):
    """``within[i]``: the first item that a window which ends with item i covers; ``beyond[k]``: the first one that a
    window which starts with item k does not reach.

    An item is a value, or a group of neighbouring values from ``lows[i]`` to ``highs[i]``; a window covers a run of
    groups when it touches the first and the last one. Three windows slide at the same time, each over a third of the
    items, because a step has to wait for the one before it.
    """
    n = len(lows)
    i, i2, i3 = np.uintp(0), np.uintp(n // 3), np.uintp(2 * n // 3)
    k, k2, k3 = (
        np.uintp(0),
        _first_within(lows, highs, limit, n // 3),
        _first_within(lows, highs, limit, 2 * n // 3),
    )
    end, end2, end3, met, met2 = i2, i3, np.uintp(n), k2, k3
    while i < end and i2 < end2 and i3 < end3:
        i, k = _step(lows, highs, limit, within, beyond, i, k)
        i2, k2 = _step(lows, highs, limit, within, beyond, i2, k2)
        i3, k3 = _step(lows, highs, limit, within, beyond, i3, k3)
    while i < end:
        i, k = _step(lows, highs, limit, within, beyond, i, k)
    while i2 < end2:
        i2, k2 = _step(lows, highs, limit, within, beyond, i2, k2)
    while i3 < end3:
        i3, k3 = _step(lows, highs, limit, within, beyond, i3, k3)
    beyond[k:met], beyond[k2:met2], beyond[k3 : n + 1] = end, end2, n
    # Where one window stopped another one had come by already.
    beyond[met] = _first_beyond(lows, highs, limit, np.int64(met))
    beyond[met2] = _first_beyond(lows, highs, limit, np.int64(met2))


@njit(cache=True, nogil=True)
def turns(lows, highs, cum, limit, doubles, integers):
    """The turns of a window that covers differences up to ``limit``.

    Returns the boundaries ``starts`` and ``ends``, the cumulative probabilities there, and two maps between turns:
    ``before[a]``, the last end before starts[a], and ``after[b]``, the first start after ends[b]. A window
    that ends at starts[a] can begin at starts[before[a]]; one that starts at ends[b] can reach ends[after[b]].
    """
    n, one = len(lows), np.uintp(1)
    starts, ends, before, after = integers[0], integers[1], integers[2], integers[3]
    within, beyond, turns_until = integers[4], integers[5], integers[6]
    start_mass, end_mass = doubles[0], doubles[1]
    _slide(lows, highs, limit, within, beyond)
    turn = one
    turns_until[0] = 0
    for i in range(one, np.uintp(n)):
        ends[turn] = i
        turn += np.uintp(within[i] != within[i - one])
        turns_until[i] = turn - one
    last = np.int64(turn)
    ends[0], ends[last], within[n], turns_until[n] = 0, n, n, last
    starts[0], before[0], after[0] = 0, -1, 1
    start_mass[0] = end_mass[0] = 0.0
    for r in range(one, np.uintp(last + 1)):
        end = np.uintp(ends[r])
        start = np.uintp(within[end])
        starts[r], start_mass[r], end_mass[r] = start, cum[start], cum[end]
        before[r] = turns_until[start - one]
        after[r] = turns_until[np.uintp(beyond[end])]
    after[last] = last + 1
    start_mass[last + 1] = end_mass[last + 1] = cum[n]
    return starts[: last + 1], ends[: last + 1], start_mass, end_mass, before[: last + 1], after[: last + 1]
