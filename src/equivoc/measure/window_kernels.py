"""Which values one window of length ε covers, and the heaviest such window. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.distribution import TIE_ROUNDING, TIE_SHARE


@njit(cache=True, nogil=True, inline="always")
def reach(lowest, highest, eps):
    """The largest difference that a window of length ε covers, between values from ``lowest`` to ``highest``.

    Ties are decided in favour of covering: a little more than ε (see TIE_ROUNDING), the same for every pair, so that
    H at ε with ties is H at the reach without.
    """
    return eps + min(TIE_ROUNDING * max(abs(lowest), abs(highest)), TIE_SHARE * eps)


@njit(cache=True, nogil=True)
def first_within(lows, highs, limit):
    """first[i]: the smallest boundary k such that one window covers the items k … i − 1.

    An item reaches from ``lows[i]`` to ``highs[i]``; a window covers those it touches, up to ``limit`` apart.
    """
    first = np.empty(len(lows) + 1, np.int32)
    first[0] = 0
    k = 0
    for i in range(1, len(lows) + 1):
        while lows[i - 1] - highs[k] > limit:
            k += 1
        first[i] = k
    return first


@njit(cache=True, nogil=True)
def window_starts(x, eps):
    """first[i]: the smallest boundary k such that one window of length ε covers the values k … i − 1."""
    return first_within(x, x, reach(x[0], x[-1], eps))


@njit(cache=True, nogil=True)
def best_window(x, cum, eps):
    """V(ε): the mass of the heaviest window of length ε, and the items it covers (from, to); of several, the lowest.

    Windows that only rounding tells apart count as equally heavy; the mass is the largest all the same, so that it
    never falls as ε grows.
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
