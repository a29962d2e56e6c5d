"""One exact H(ε) for any number of values, in O(n log n)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import log

import numpy as np
from numpy.typing import ArrayLike

from equivoc.measure.distribution import Distribution, Floats, one_tolerance
from equivoc.measure.overtaking import overtaking_table

NATS_PER_BIT = log(2.0)
TWO_THREADS_FROM = 150_000
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
    distribution = Distribution.of(values, probabilities)
    return exact_entropy(distribution, distribution.cumulative, at)


def exact_entropy(distribution: Distribution, cumulative: Floats, eps: float) -> float:
    """H(ε) in bits of a checked distribution."""
    from equivoc.measure import window_kernels as kernels

    x = distribution.values
    if eps == 0.0:
        return distribution.shannon
    limit = kernels.reach(x[0], x[-1], eps)
    if x[-1] - x[0] <= limit:
        return 0.0
    if len(x) >= TWO_THREADS_FROM:
        return _from_both_ends(x, cumulative, limit)
    first = kernels.starts_within(x, x, limit)
    wanted = kernels.window_start_boundaries(first)
    return _bits(kernels.prefix_costs(cumulative, first, wanted, overtaking_table())[0][-1])


def _from_both_ends(x: Floats, cumulative: Floats, limit: float) -> float:
    """H in bits: the optimal prefixes and the optimal suffixes meet in the middle; neither needs the other."""
    from equivoc.measure import window_kernels as kernels

    table = overtaking_table()
    middle = len(x) // 2
    # The boundary at which the last window across the middle ends.
    end = middle - 1 + kernels.values_within(x[middle - 1 :], limit)

    def suffixes() -> Floats:
        backwards = np.ascontiguousarray(-x[: middle - 1 : -1])
        masses = cumulative[-1] - cumulative[: middle - 1 : -1]
        first = kernels.starts_within(backwards, backwards, limit)
        wanted = kernels.window_start_boundaries(first)
        wanted[len(x) - end :] = True  # windows across the middle may end there
        cost: Floats = kernels.prefix_costs(masses, first, wanted, table)[0]
        return cost[::-1]

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(suffixes)
        first = kernels.starts_within(x[:end], x[:end], limit)
        wanted = kernels.window_start_boundaries(first)
        wanted[middle] = True
        cost, _, tight = kernels.prefix_costs(cumulative[: middle + 1], first, wanted, table)
        nats = kernels.join_halves(cost, tight, cumulative[: end + 1], first, coming.result(), table)
    return _bits(nats)


def _bits(nats: float) -> float:
    return max(float(nats) / NATS_PER_BIT, 0.0)
