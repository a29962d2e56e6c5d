"""Which ends of windows are worth a place in the search for the best one. Compiled.

An end b at the cumulative probability P, reached at cost E, leads to a start by a window of mass v for E + φ(v). φ is
concave: against an older end, −Δ in P and E, it can only win where φ'(v) exceeds the slope ΔE/ΔP between the two, against
a newer one only where φ'(v) is less than the slope. So an end is of use only where these slopes rise: a corner of the
convex hull of the ends around it, seen from below.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.logarithm_kernels import phi

CHUNK=128
NEWEST=int(__import__('os').environ.get('KN','4'))
OLDEST=int(__import__('os').environ.get('KO','4'))
NEIGHBOURS = max(NEWEST,OLDEST)
"""How many of the nearest ends, and of the furthest that still reach it, every start is tried with; and with how many on
either side an end is compared to be of use to any other start."""

ROUNDING = 1e-12
"""Costs in nats that differ by less may be those of one and the same prefix, summed up in another order."""

SMALLEST = 1e-290

vectorised = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nnan", "nsz"})
branching = njit(cache=True, nogil=True, error_model="numpy")


@vectorised
def _slopes(end_cost, end_mass, begin, stop, steepest, flattest):
    """The steepest slope from an older and the flattest to a newer neighbour, within the ends begin … stop."""
    first, count = np.uintp(begin), stop - begin + 1
    for t in range(np.uintp(count)):
        steepest[t] = -np.inf
        flattest[t] = np.inf
    for apart in range(1, NEIGHBOURS + 1):
        step = np.uintp(apart)
        for t in range(np.uintp(max(count - apart, 0))):
            mass = end_mass[first + t + step] - end_mass[first + t]
            share = 1.0 / (mass if mass > SMALLEST else SMALLEST)
            rise = (end_cost[first + t + step] - end_cost[first + t]) * share
            rounding = ROUNDING * share
            up, down = rise + rounding, rise - rounding
            if apart <= NEWEST:
                flattest[t] = up if up < flattest[t] else flattest[t]
            if apart <= OLDEST:
                steepest[t + step] = down if down > steepest[t + step] else steepest[t + step]


@branching
def corners(end_cost, end_mass, begin, stop, steepest, flattest, floor, listed):
    """List the ends begin … stop that may lead to a start better than all their neighbours do; how many."""
    _slopes(end_cost, end_mass, begin, stop, steepest, flattest)
    count = 0
    for t in range(np.uintp(stop - begin + 1)):
        listed[count] = begin + t
        count += (steepest[t] < flattest[t]) & (flattest[t] > floor)
    return count


@vectorised
def _phi_of(masses, count):
    for t in range(np.uintp(count)):
        masses[t] = phi(masses[t])


@vectorised
def try_neighbours(start_cost, start_mass, end_cost, end_mass, before, begin, stop, window, offered):
    """S of the starts begin … stop − 1 from the newest and the oldest of the ends that lead there."""
    for low in range(begin, stop, CHUNK):
        first, count = np.uintp(low), np.uintp(min(CHUNK, stop - low))
        for t in range(count):
            newest = np.int64(before[first + t])
            oldest = np.int64(before[np.uintp(newest)]) + 1
            here = start_mass[first + t]
            place = t * np.uintp(NEWEST + OLDEST)
            for j in range(NEWEST):
                b = np.uintp(max(newest - j, oldest))
                window[place + np.uintp(j)] = here - end_mass[b]
                offered[place + np.uintp(j)] = end_cost[b]
            for j in range(OLDEST):
                b = np.uintp(min(oldest + j, newest))
                window[place + np.uintp(NEWEST + j)] = here - end_mass[b]
                offered[place + np.uintp(NEWEST + j)] = end_cost[b]
        _phi_of(window, count * np.uintp(NEWEST + OLDEST))
        for t in range(count):
            least = start_cost[first + t]
            place = t * np.uintp(NEWEST + OLDEST)
            for j in range(np.uintp(NEWEST + OLDEST)):
                v = offered[place + j] + window[place + j]
                least = v if v < least else least
            start_cost[first + t] = least
