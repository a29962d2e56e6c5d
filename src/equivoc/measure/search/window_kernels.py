"""Which values one window of length ε covers, and the heaviest such window. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

from numba import njit

from equivoc.measure.input.distribution import TIE_ROUNDING, TIE_SHARE


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
