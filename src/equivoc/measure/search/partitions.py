"""The optimal partition of one posterior with many values, and the surprise of each value in it."""

from __future__ import annotations

import numpy as np

from equivoc.measure.input.arguments import Floats
from equivoc.measure.input.distribution import Distribution


def surprise_of_values(distribution: Distribution, eps: float) -> Floats:
    """−log2 of the mass of the window that holds each value, in bits; searched from both ends and averaged.

    >>> surprise_of_values(Distribution(np.array([1.0, 2.0, 8.0]), np.array([0.25, 0.25, 0.5])), 1.0)
    array([1., 1., 1.])
    """
    x, p = distribution.values, distribution.probabilities
    return 0.5 * (_bits(x, p, eps) + _bits(x[-1] - x[::-1], p[::-1], eps)[::-1])


def _bits(x: Floats, p: Floats, eps: float) -> Floats:
    from equivoc.measure.search.partition_kernels import least_costs
    from equivoc.measure.search.window_kernels import reach

    x, n = np.ascontiguousarray(x), len(x)
    cumulative = np.concatenate([[0.0], np.cumsum(p)])
    source = np.empty(n + 1, np.int32)
    least_costs(cumulative, x, x, reach(x[0], x[-1], eps), np.empty(n + 1), source)
    begins = []
    end = n
    while end > 0:
        begins.append(int(source[end]))
        end = begins[-1]
    starts = np.array(begins[::-1])
    # Added up anew: in differences of cumulative sums, a mass below 1e-16 would be 0.
    masses = np.add.reduceat(p, starts)
    with np.errstate(divide="ignore"):  # a window without mass surprises without limit
        bits = -np.log2(np.minimum(masses, 1.0))
    return np.asarray(np.repeat(bits, np.diff(np.append(starts, n))))
