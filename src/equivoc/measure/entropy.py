"""One exact H(ε) for any number of values, in O(n log n)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from equivoc.measure.input.arguments import one_tolerance
from equivoc.measure.input.distribution import NATS_PER_BIT, Distribution


def entropy_at(values: ArrayLike, probabilities: ArrayLike, eps: float) -> float:
    """H(ε): the least Shannon entropy, in bits, after merging values at most ε apart.

    H(ε) = min over partitions of the sorted values into windows of diameter ≤ ε of Σ −q log2 q, q the windows'
    masses (Alfalayleh and Brankovic 2014, with the misprint "maximised" corrected). Exact up to rounding; O(n log n)
    time, O(n) memory. Smaller is riskier: at 0 bits the intruder knows the value to within ε.

    A pair x_i − x_j = ε counts as covered even where binary rounding makes the difference come out larger (see
    docs/method.md, "Ties").

    >>> round(entropy_at([1, 3, 8, 9], [.15, .1, .7, .05], 2), 3)
    0.811
    >>> entropy_at([0.1, 0.4], [0.5, 0.5], 0.3)
    0.0
    """
    at = one_tolerance("eps", eps)
    return exact_entropy(Distribution.of(values, probabilities), at)


def exact_entropy(distribution: Distribution, eps: float) -> float:
    """H(ε) in bits of a checked distribution."""
    from equivoc.measure.search.partition_kernels import least_cost
    from equivoc.measure.search.window_kernels import reach

    x = distribution.values
    if eps == 0.0:
        return distribution.shannon
    limit = reach(x[0], x[-1], eps)
    if x[-1] - x[0] <= limit:
        return 0.0
    return max(float(least_cost(distribution.cumulative, x, x, limit)) / NATS_PER_BIT, 0.0)
