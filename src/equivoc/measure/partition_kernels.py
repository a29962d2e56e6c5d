"""H(ε) and a partition that attains it, read back from the least costs of prefixes. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np

from equivoc.measure.candidate_kernels import branching
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


@branching
def least_meeting(boundaries, costs, mirrored, mirrored_costs, n):
    """The least cost of a prefix and a suffix that meet. Suffixes are known by how many of the n items they hold."""
    least = np.inf
    t = len(mirrored) - 1
    for a in range(len(boundaries)):
        while t >= 0 and n - mirrored[t] < boundaries[a]:
            t -= 1
        if t >= 0 and n - mirrored[t] == boundaries[a]:
            least = min(least, costs[a] + mirrored_costs[t])
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
    count = 0
    at_start = start_cost[a] <= end_cost[b]
    while True:
        if at_start:
            boundaries[count] = starts[a]
            if a == 0:
                break
            here = start_mass[a]
            to = before[a]
            least = start_cost[to] + phi(here - start_mass[to])
            for k in range(before[to] + 1, to + 1):
                v = end_cost[k] + phi(here - end_mass[k])
                if v < least:
                    least, at_start, b = v, False, k
            a = to
        else:
            boundaries[count] = ends[b]
            if b == 0:
                break
            here = end_mass[b]
            to = b
            a = b - 1
            least = start_cost[a] + phi(here - start_mass[a])
            at_start = True
            for k in range(before[to - 1] + 1, before[to] + 1):
                v = end_cost[k] + phi(here - end_mass[k])
                if v < least:
                    least, at_start, b = v, False, k
        count += 1
    return cost, boundaries[: count + 1]


@branching
def widest_window(lows, highs, boundaries):
    """The largest diameter among the windows between ``boundaries`` (falling)."""
    widest = 0.0
    for t in range(len(boundaries) - 1):
        widest = max(widest, highs[boundaries[t] - 1] - lows[boundaries[t + 1]])
    return widest
