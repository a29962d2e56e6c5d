"""H(ε) and a partition that attains it, read back from the least costs of prefixes. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np

from equivoc.measure.candidate_kernels import branching, vectorised
from equivoc.measure.logarithm_kernels import phi
from equivoc.measure.prefix_kernels import least_costs
from equivoc.measure.turn_kernels import DOUBLES, INTEGERS


@branching
def least_cost(cum, lows, highs, limit, table):
    """H in nats with windows that cover differences up to ``limit`` (less than all)."""
    doubles, integers = np.empty((DOUBLES, len(lows) + 2)), np.empty((INTEGERS, len(lows) + 2), np.int32)
    found = least_costs(cum, lows, highs, limit, table, len(lows), False, doubles, integers)
    start_cost, end_cost, a, b = found[5:]
    return min(start_cost[a - 1], end_cost[b])


@vectorised
def _offers(end_cost, end_mass, here, oldest, newest, offers):
    """What it costs to come to the cumulative probability ``here`` by a window from each of these ends; the least."""
    first, least = np.uintp(oldest), np.inf
    for t in range(np.uintp(newest - oldest + 1)):
        offers[t] = end_cost[first + t] + phi(here - end_mass[first + t])
    for t in range(np.uintp(newest - oldest + 1)):
        least = offers[t] if offers[t] < least else least
    return least


@branching
def least_partition(cum, lows, highs, limit, table):
    """H in nats, and the boundaries of an optimal partition, from the last to 0."""
    doubles, integers = np.empty((DOUBLES, len(lows) + 2)), np.empty((INTEGERS, len(lows) + 2), np.int32)
    starts, ends, before, start_mass, end_mass, start_cost, end_cost, a, b = least_costs(
        cum, lows, highs, limit, table, len(lows), False, doubles, integers
    )
    a -= 1
    cost = min(start_cost[a], end_cost[b])
    boundaries = np.empty(2 * len(starts), np.int64)
    offers = np.empty(len(starts))
    count = 0
    at_start = start_cost[a] <= end_cost[b]
    while True:
        if at_start:
            boundaries[count] = starts[a]
            if a == 0:
                break
            here, to = start_mass[a], before[a]
            oldest, newest = before[to] + 1, to
        else:
            boundaries[count] = ends[b]
            if b == 0:
                break
            here, to = end_mass[b], b - 1
            oldest, newest = before[to] + 1, before[b]
        least = start_cost[to] + phi(here - start_mass[to])
        at_start = True
        if _offers(end_cost, end_mass, here, oldest, newest, offers) < least:
            at_start, b = False, oldest + np.argmin(offers[: newest - oldest + 1])
        a = to
        count += 1
    return cost, boundaries[: count + 1]


@branching
def widest_window(lows, highs, boundaries):
    """The largest diameter among the windows between ``boundaries`` (falling)."""
    widest = 0.0
    for t in range(len(boundaries) - 1):
        widest = max(widest, highs[boundaries[t] - 1] - lows[boundaries[t + 1]])
    return widest
