"""One exact H(ε) for any number of values, in O(n log n)."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from math import log

import numpy as np
from numpy.typing import ArrayLike

from equivoc.measure.distribution import Distribution, Floats, one_tolerance
from equivoc.measure.kept_memory import room
from equivoc.measure.overtaking import overtaking_table
from equivoc.measure.parallel import all_of, cores
from equivoc.measure.sums import running_sums

NATS_PER_BIT = log(2.0)
TWO_THREADS_FROM = 40_000
"""Below this many values, starting a second thread costs more than it saves."""


def entropy_at(values: ArrayLike, probabilities: ArrayLike, eps: float) -> float:
    """H(ε): the least Shannon entropy, in bits, that merging values at most ε apart can leave.

    H(ε) = min over partitions of the sorted values into windows of diameter ≤ ε of Σ −q log2 q, q the windows'
    masses (Alfalayleh and Brankovic 2014, the misprint "maximised" repaired). Exact up to rounding; O(n log n) time,
    O(n) memory. Smaller is riskier: at 0 bits the intruder knows the value to within ε.

    A pair x_i − x_j = ε counts as covered even where binary rounding makes the difference come out larger (see
    docs/method.md, "Ties").

    >>> round(entropy_at([1, 3, 8, 9], [.15, .1, .7, .05], 2), 3)
    0.811
    >>> entropy_at([0.1, 0.4], [0.5, 0.5], 0.3)
    0.0
    """
    at = one_tolerance("eps", eps)
    with ExitStack() as until_then:
        distribution = Distribution.of(
            values, probabilities, memory=lambda doubles: until_then.enter_context(room(doubles))
        )
        return exact_entropy(distribution, at)


def exact_entropy(distribution: Distribution, eps: float) -> float:
    """H(ε) in bits of a checked distribution."""
    from equivoc.measure.partition_kernels import least_cost
    from equivoc.measure.window_kernels import reach

    x = distribution.values
    if eps == 0.0:
        return distribution.shannon
    limit = reach(x[0], x[-1], eps)
    if x[-1] - x[0] <= limit:
        return 0.0
    if len(x) >= TWO_THREADS_FROM and cores() > 1:
        nats = _from_both_ends(x, distribution.probabilities, limit)
    else:
        nats = least_cost(distribution.cumulative, x, x, limit, overtaking_table())
    return max(float(nats) / NATS_PER_BIT, 0.0)


def _from_both_ends(x: Floats, p: Floats, limit: float) -> float:
    """H in nats: the best prefixes and the best suffixes meet around the middle; neither needs the other.

    No window reaches from before the boundary ``low`` to beyond ``high``, so every partition has a boundary between.
    """
    n = len(x)
    middle = n // 2
    low = (middle + int(np.searchsorted(x, x[middle] - limit))) // 2
    high = _reached(x, low, limit)
    top, bottom = _reached(x, high, limit), _reached_back(x, low, limit)
    prefixes = partial(_costs_between, x[:top], p[:top], limit, low, high)
    suffixes = partial(_costs_between, x[bottom:], p[bottom:], limit, n - high, n - low, mirrored=True)
    (start_cost, end_cost), (mirrored_start_cost, mirrored_end_cost) = all_of([prefixes, suffixes])
    # What is a start seen from the left is an end seen from the right, where the last one comes first. Both sides have
    # the same ones between low and high, because the same differences decide.
    return float(
        min((start_cost + mirrored_end_cost[::-1]).min(), (end_cost + mirrored_start_cost[::-1]).min())
    )


def _reached(x: Floats, boundary: int, limit: float) -> int:
    """The furthest boundary that a window from ``boundary`` on reaches, or one a little beyond."""
    if boundary == len(x):
        return boundary
    reached = int(np.searchsorted(x, x[boundary] + limit, side="right"))
    while reached < len(x) and x[reached] - x[boundary] <= limit:  # the sum was rounded
        reached += 1
    return reached


def _reached_back(x: Floats, boundary: int, limit: float) -> int:
    """The furthest boundary that a window which ends at ``boundary`` reaches back to, or one a little beyond."""
    if boundary == 0:
        return boundary
    reached = int(np.searchsorted(x, x[boundary - 1] - limit))
    while reached > 0 and x[boundary - 1] - x[reached - 1] <= limit:  # the difference was rounded
        reached -= 1
    return reached


def _costs_between(
    x: Floats, p: Floats, limit: float, low: int, high: int, *, mirrored: bool = False
) -> list[Floats]:
    """Least costs in nats of the prefixes that end at the starts from boundary low to high; the same of the ends.

    Mirrored, the values are −x_n … −x_1, and the prefixes are those of these.
    """
    from equivoc.measure.prefix_kernels import least_costs
    from equivoc.measure.sum_kernels import mirror
    from equivoc.measure.workplace import workplace

    with workplace(len(x)) as room:
        if mirrored:
            mirror(x, p, room.values, room.sums)
            x = room.values
        else:
            running_sums(p, out=room.sums)
        starts, ends, _, _, _, start_cost, end_cost, _, _ = least_costs(
            room.sums, x, x, limit, overtaking_table(), high, True, room.doubles, room.integers
        )
        # Of the boundaries' own type: otherwise all of them would be converted first.
        first_and_beyond = np.array([low, high + 1], starts.dtype)
        return [
            costs[slice(*np.searchsorted(boundaries, first_and_beyond))].copy()
            for boundaries, costs in ((starts, start_cost), (ends, end_cost))
        ]
