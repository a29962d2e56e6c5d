"""The best end for every start of a block: two searches in which nothing expires, each with a stack. Compiled.

φ is concave: of two ends the older one only gains on the newer one as the start they lead to moves right. So a stack of
ends, each with the cumulative probability at which the one below overtakes it, has the best one on top. An end that is
no corner between its two neighbours (see candidate_kernels.py) leaves the stack without asking for that point.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

from equivoc.measure.candidate_kernels import branching
from equivoc.measure.overtaking_kernels import NEVER, overtaken_after


@njit(cache=True, nogil=True, inline="always")
def _down_to(a, last, begin, start_mass, until, which, top, source):
    """Note the best end for the starts a, a − 1 … last + 1. Returns the next start, and the stack's top."""
    while a > last:
        while top > 0 and until[top] >= start_mass[a]:
            top -= 1
        source[a - begin] = which[top]
        a -= 1
    return a, top


@njit(cache=True, nogil=True, inline="always")
def _up_to(a, first, begin, start_mass, until, which, top, source):
    """Note the best end for the starts a … first − 1. Returns the next start, and the stack's top."""
    while a < first:
        while top > 0 and until[top] <= start_mass[a]:
            top -= 1
        source[a - begin] = which[top]
        a += 1
    return a, top


@branching
def search_back(known, listed, count, begin, stop, table, stack, source):
    """For the starts begin … stop − 1: the best of the listed ends that still reaches it, all older than the block.

    Runs from right to left, so that ends only arrive (older ones later) and none expires.
    """
    start_mass, end_cost, end_mass, after = known
    until, slopes, which = stack
    top = 0
    lowest = start_mass[begin]
    a = stop - 1
    for t in range(count - 1, -1, -1):
        b = listed[t]
        last = min(after[after[b]], stop) - 1
        a, top = _down_to(a, last, begin, start_mass, until, which, top, source)
        if a < begin:
            return
        here = start_mass[a]
        while top > 0 and until[top] >= here:
            top -= 1
        cost, mass = end_cost[b], end_mass[b]
        slope, ahead_down_to = np.inf, -1.0
        while top > 0:
            best = which[top]
            handicap, apart = end_cost[best] - cost, end_mass[best] - mass
            slope = handicap / apart
            if slope < slopes[top]:
                u = overtaken_after(handicap, apart, table)
                ahead_down_to = end_mass[best] + u
                if u >= 0.0 and ahead_down_to > until[top] and ahead_down_to > lowest:
                    break
            top -= 1
            slope, ahead_down_to = np.inf, -1.0
        if ahead_down_to < here:
            top += 1
            until[top], slopes[top], which[top] = ahead_down_to, slope, b
    _down_to(a, begin - 1, begin, start_mass, until, which, top, source)


@branching
def search_forward(known, listed, count, begin, stop, table, stack, source):
    """For the starts begin … stop − 1: the best of the listed ends before it, all within the block."""
    start_mass, end_cost, end_mass, after = known
    until, slopes, which = stack
    top = 0
    highest = start_mass[stop - 1]
    a = begin
    for t in range(count):
        b = listed[t]
        first = min(after[b], stop)
        a, top = _up_to(a, first, begin, start_mass, until, which, top, source)
        if a == stop:
            return
        here = start_mass[a]
        while top > 0 and until[top] <= here:
            top -= 1
        cost, mass = end_cost[b], end_mass[b]
        slope, ahead_up_to = -np.inf, NEVER
        while top > 0:
            best = which[top]
            handicap, apart = cost - end_cost[best], mass - end_mass[best]
            slope = handicap / apart
            if slope > slopes[top]:
                u = overtaken_after(handicap, apart, table)
                ahead_up_to = mass + u
                if u < 0.0 or ahead_up_to <= here:
                    ahead_up_to = -1.0
                    break
                if ahead_up_to < until[top] and ahead_up_to < highest:
                    break
            top -= 1
            slope, ahead_up_to = -np.inf, NEVER
        if ahead_up_to >= 0.0:
            top += 1
            until[top], slopes[top], which[top] = ahead_up_to, slope, b
    _up_to(a, stop, begin, start_mass, until, which, top, source)
