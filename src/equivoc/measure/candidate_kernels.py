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

from equivoc.measure.logarithm_kernels import phi

TRIED = 4
"""How many of the newest and of the oldest ends are tried at every start, and with how many neighbours on either side
an end is compared to be worth more than that."""
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
def _slopes(end_cost, end_mass, begin, stop, slopes):
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


@branching
def list_corners(end_cost, end_mass, begin, stop, least_slope, slopes, listed):
    """List the ends begin … stop that may lead to a start better than all their neighbours; how many.

    ``least_slope`` is φ' of the heaviest window that any of them leads by.
    """
    _slopes(end_cost, end_mass, begin, stop, slopes)
    steepest, flattest = slopes[0], slopes[1]
    count = 0
    for t in range(np.uintp(stop - begin + 1)):
        listed[count] = begin + t
        count += (steepest[t] < flattest[t]) & (flattest[t] > least_slope)
    return count
