"""The best end for every start of a block: two searches in which nothing expires, each with a stack. Compiled.

φ is concave: of two ends the older one only gains on the newer one as the start they lead to moves right. So a stack of
ends, each with the cumulative probability at which the one below overtakes it, has the best one on top.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

from equivoc.measure.candidate_kernels import branching
from equivoc.measure.overtaking_kernels import NEVER, overtaken_after


@branching
def search_back(known, listed, count, begin, stop, table, stack, source):
    """For the starts begin … stop − 1: the best of the listed ends that still reaches it, all older than the block.

    Runs from right to left, so that ends only arrive (older ones later) and none expires.
    """
    start_mass, end_cost, end_mass, after = known
    until, which = stack
    top = 0
    lowest = start_mass[begin]
    a = stop - 1
    for t in range(count - 1, -1, -1):
        b = listed[t]
        last = min(after[after[b]], stop) - 1
        while a > last:
            while top > 0 and until[top] >= start_mass[a]:
                top -= 1
            source[a - begin] = which[top]
            a -= 1
        if a < begin:
            return
        here = start_mass[a]
        while top > 0 and until[top] >= here:
            top -= 1
        cost, mass = end_cost[b], end_mass[b]
        ahead_down_to = -1.0
        while top > 0:
            best = which[top]
            u = overtaken_after(end_cost[best] - cost, end_mass[best] - mass, table)
            ahead_down_to = end_mass[best] + u
            if u < 0.0 or ahead_down_to <= until[top] or ahead_down_to <= lowest:
                top -= 1
                ahead_down_to = -1.0
            else:
                break
        if ahead_down_to < here:
            top += 1
            until[top], which[top] = ahead_down_to, b
    while a >= begin:
        while top > 0 and until[top] >= start_mass[a]:
            top -= 1
        source[a - begin] = which[top]
        a -= 1


@branching
def search_forward(known, listed, count, begin, stop, table, stack, source):
    """For the starts begin … stop − 1: the best of the listed ends before it, all within the block."""
    start_mass, end_cost, end_mass, after = known
    until, which = stack
    top = 0
    highest = start_mass[stop - 1]
    a = begin
    for t in range(count):
        b = listed[t]
        first = after[b]
        while a < first and a < stop:
            while top > 0 and until[top] <= start_mass[a]:
                top -= 1
            source[a - begin] = which[top]
            a += 1
        if a == stop:
            return
        here = start_mass[a]
        while top > 0 and until[top] <= here:
            top -= 1
        cost, mass = end_cost[b], end_mass[b]
        ahead_up_to = NEVER
        while top > 0:
            best = which[top]
            u = overtaken_after(cost - end_cost[best], mass - end_mass[best], table)
            ahead_up_to = mass + u
            if u < 0.0 or ahead_up_to <= here:
                ahead_up_to = -1.0
                break
            if ahead_up_to >= until[top] or ahead_up_to >= highest:
                top -= 1
                ahead_up_to = NEVER
            else:
                break
        if ahead_up_to >= 0.0:
            top += 1
            until[top], which[top] = ahead_up_to, b
    while a < stop:
        while top > 0 and until[top] <= start_mass[a]:
            top -= 1
        source[a - begin] = which[top]
        a += 1
