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

DOUBLES, INTEGERS = 4, 8
"""How many rows of room for n + 2 doubles and 32-bit integers the search for n items takes. Callers bring it: where it
is large, memory that NumPy asks for comes in larger pages, which takes a tenth of the time."""


@njit(cache=True, nogil=True, inline="always")
def _step(lows, highs, limit, starts, ends, reached_from, reached_at, i, k, r, moving):
    """Move the window's right end i or its left end k by one. r counts turns; ``moving``: did the left end move last?

    It writes all it might have to write: a branch that depends on the data costs more.
    """
    one = np.uintp(1)
    out_of_reach = np.uintp(lows[i] - highs[k] > limit)
    r += out_of_reach & (one - moving)
    reached_from[k] = r
    reached_at[i + one] = r
    k += out_of_reach
    i += one - out_of_reach
    starts[r] = k
    ends[r + one] = i
    return i, k, r, out_of_reach


@njit(cache=True, nogil=True)
def _first_within(lows, highs, limit, boundary):
    """The boundary from which the longest window that ends at ``boundary`` starts."""
    low, high = 0, max(boundary - 1, 0)
    while low < high:
        middle = (low + high) // 2
        if lows[boundary - 1] - highs[middle] > limit:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _slide(lows, highs, limit, starts, ends, reached_from, reached_at, later_starts, later_ends):
    """Fill both lists; the last turn. ``reached_from[j]``: the turn whose end a window from boundary j reaches;
    ``reached_at[i]``: the turn whose start a window that ends at boundary i can begin at.

    An item is a value, or a group of neighbouring values from ``lows[i]`` to ``highs[i]``; a window covers a run of
    groups when it touches the first and the last one. Two windows slide at the same time, the second from the middle
    on, because a step has to wait for the one before it; the second one's turns are numbered afterwards.
    """
    n, half, nought = np.uintp(len(lows)), np.uintp(len(lows) // 2), np.uintp(0)
    middle = np.uintp(_first_within(lows, highs, limit, len(lows) // 2))
    starts[0] = 0
    ends[0] = 0
    ends[1] = 0
    later_ends[1] = half
    i, k, r, moving = nought, nought, nought, nought
    i2, k2, r2, moving2 = half, middle, nought, nought
    while i < half and i2 < n:
        i, k, r, moving = _step(lows, highs, limit, starts, ends, reached_from, reached_at, i, k, r, moving)
        i2, k2, r2, moving2 = _step(
            lows, highs, limit, later_starts, later_ends, reached_from, reached_at, i2, k2, r2, moving2
        )
    while i < half:
        i, k, r, moving = _step(lows, highs, limit, starts, ends, reached_from, reached_at, i, k, r, moving)
    while i2 < n:
        i2, k2, r2, moving2 = _step(
            lows, highs, limit, later_starts, later_ends, reached_from, reached_at, i2, k2, r2, moving2
        )
    turn, last = np.int64(r), np.int64(r + r2) + 1
    starts[turn + 1 : last] = later_starts[1 : last - turn]
    ends[turn + 1 : last] = later_ends[1 : last - turn]
    starts[last] = ends[last] = len(lows)
    for boundary in range(half + np.uintp(1), n + np.uintp(1)):
        reached_at[boundary] += turn
    for boundary in range(middle, k2):
        reached_from[boundary] += turn
    reached_from[middle] = turn + 1  # the first window came by as well
    reached_from[np.int64(k2) : len(lows) + 1] = last
    return last


@njit(cache=True, nogil=True)
def turns(lows, highs, cum, limit, doubles, integers):
    """The turns of a window that covers differences up to ``limit``.

    Returns the boundaries ``starts`` and ``ends``, the cumulative probabilities there, and two maps between turns:
    ``before[a]``, the last end before starts[a], and ``after[b]``, the first start after ends[b]. A window
    that ends at starts[a] can begin at starts[before[a]]; one that starts at ends[b] can reach ends[after[b]].
    """
    n = len(lows)
    starts, ends, reached_from, reached_at = integers[0], integers[1], integers[2], integers[3]
    last = _slide(lows, highs, limit, starts, ends, reached_from, reached_at, integers[4], integers[5])
    before, after = integers[6], integers[7]
    start_mass, end_mass = doubles[0], doubles[1]
    before[0] = -1
    start_mass[0] = end_mass[0] = 0.0
    after[0] = 1
    for r in range(np.uintp(1), np.uintp(last + 1)):
        start, end = np.uintp(starts[r]), np.uintp(ends[r])
        start_mass[r], end_mass[r] = cum[start], cum[end]
        before[r], after[r] = reached_at[start], reached_from[end]
    after[last] = last + 1
    start_mass[last + 1] = end_mass[last + 1] = cum[n]
    return starts[: last + 1], ends[: last + 1], start_mass, end_mass, before[: last + 1], after[: last + 1]
