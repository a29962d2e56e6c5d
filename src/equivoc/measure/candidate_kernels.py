"""Which ends of windows are worth a place in the search for the best one. Compiled.

An end at the cumulative probability P, reached at cost E, leads to a start by a window of mass v for E + φ(v). φ is
concave, so an end can win against an older one only where φ'(v) is above the slope ΔE/ΔP between the two, and against
a newer one only where φ'(v) is below it. An end from whose neighbours the slopes do not rise wins nowhere: it is not a
corner of the convex hull below the ends around it. docs/method.md ("Which ends are searched") has the proof.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.logarithm_kernels import log, phi

TRIED = 4
"""How many of the newest and of the oldest ends are tried at every start, and with how many neighbours on either side
an end is compared to be worth more than that."""
JUDGED_AT_ONCE = 32
"""How many neighbouring ends are judged by the same bounds on the mass of their windows."""
CHUNK = 128
"""How many starts are tried at a time, so that what is noted about them stays in the nearest cache."""

ROUNDING = 1e-12
"""Costs in nats that differ by less may be those of one and the same prefix, summed up in another order."""
LEAST_MASS = 1e-290
"""What a mass of 0 between two ends counts as; ROUNDING over it is still a number."""

vectorised = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nnan", "nsz"})
branching = njit(cache=True, nogil=True, error_model="numpy")


@vectorised
def try_nearest(start_cost, start_mass, end_cost, end_mass, before, begin, stop, window, offered):
    """Lower S of the starts begin … stop − 1 where one of the newest or oldest ends that lead there is better."""
    row = np.uintp(CHUNK)
    for chunk in range(begin, stop, CHUNK):
        first, count = np.uintp(chunk), np.uintp(min(CHUNK, stop - chunk))
        for t in range(count):
            newest = np.int64(before[first + t])
            oldest = np.int64(before[np.uintp(newest)]) + 1
            mass = start_mass[first + t]
            for k in range(TRIED):
                newer, older = np.uintp(max(newest - k, oldest)), np.uintp(min(oldest + k, newest))
                place = np.uintp(2 * k) * row + t
                window[place], offered[place] = mass - end_mass[newer], end_cost[newer]
                window[place + row], offered[place + row] = mass - end_mass[older], end_cost[older]
        for k in range(np.uintp(2 * TRIED)):
            place = k * row
            for t in range(count):
                v = offered[place + t] + phi(window[place + t])
                start_cost[first + t] = v if v < start_cost[first + t] else start_cost[first + t]


@vectorised
def neighbour_slopes(end_cost, end_mass, begin, stop, slopes):
    """The steepest slope from an older end, less rounding, and the flattest to a newer one, plus rounding.

    The ends begin … stop are compared with each other only: among them no window expires where it is looked at.
    """
    steepest, flattest = slopes[0], slopes[1]
    first, count = np.uintp(begin), stop - begin + 1
    for t in range(np.uintp(count)):
        steepest[t], flattest[t] = -np.inf, np.inf
    for apart in range(1, TRIED + 1):
        step = np.uintp(apart)
        for t in range(np.uintp(max(count - apart, 0))):
            mass = end_mass[first + t + step] - end_mass[first + t]
            share = 1.0 / (mass if mass > LEAST_MASS else LEAST_MASS)
            slope = (end_cost[first + t + step] - end_cost[first + t]) * share
            high, low = slope + ROUNDING * share, slope - ROUNDING * share
            flattest[t] = high if high < flattest[t] else flattest[t]
            steepest[t + step] = low if low > steepest[t + step] else steepest[t + step]


@vectorised
def _judge(slopes, begin, count, least, most, corner):
    """Which of ``count`` ends are corners, at a place where φ' of their windows is between ``least`` and ``most``."""
    steepest, flattest, first = slopes[0], slopes[1], np.uintp(begin)
    for t in range(np.uintp(count)):
        low, high = steepest[first + t], flattest[first + t]
        corner[t] = (low < high) & (high > least) & (low < most)


@branching
def list_corners(end_mass, after, begin, stop, slopes, lowest, highest, corner, listed):
    """List the ends begin … stop that may lead to a start better than all their neighbours; how many.

    ``slopes`` are theirs (see ``neighbour_slopes``). The starts in question lie at the cumulative probabilities from
    ``lowest`` to ``highest``. That bounds the masses of the windows that lead there, and φ' with them.
    """
    count = np.uintp(0)
    for first in range(begin, stop + 1, JUDGED_AT_ONCE):
        final = min(first + JUDGED_AT_ONCE - 1, stop)
        heaviest = min(highest, end_mass[after[final]]) - end_mass[first]
        lightest = lowest - end_mass[final]
        least = -log(max(heaviest, LEAST_MASS)) - 1.0
        most = -log(lightest) - 1.0 if lightest > 0.0 else np.inf
        _judge(slopes, first - begin, final - first + 1, least, most, corner)
        for t in range(np.uintp(final - first + 1)):
            listed[count] = np.uintp(first) + t
            count += np.uintp(corner[t])
    return np.int64(count)
