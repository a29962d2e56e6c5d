"""Every tolerance at which H changes, exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.distribution import NATS_PER_BIT, TIE_SHARE, Distribution, Floats

Level = Callable[[float], tuple[float, float]]
"""H in nats at a difference of two values, and the diameter of the widest window of an optimal partition there."""


def last_of_ties(ascending: Floats, rounding: float) -> NDArray[np.intp]:
    """Positions of the distinct differences: the largest of each run that is equal up to rounding."""
    last, k = [], 0
    while k < len(ascending):
        reach = ascending[k] + min(rounding, TIE_SHARE * ascending[k])
        k = int(np.searchsorted(ascending, reach, side="right"))
        last.append(k - 1)
    return np.array(last)


def jumps(distribution: Distribution) -> tuple[Floats, Floats, float]:
    """The tolerances at which H changes (0 first, ascending), H from there on in bits, and the area.

    Costs about one O(n log n) evaluation per jump (about 5n jumps for n random values) and O(n) memory. Jumps below
    1e-12 bits cannot be distinguished from rounding and are not reported. Differences are not merged: 0.3 and 0.1 + 0.2
    are two tolerances here.
    """
    from equivoc.measure.jump_kernels import SAME_LEVEL, difference_below

    x, spread, h0 = distribution.values, distribution.spread, distribution.shannon * NATS_PER_BIT
    level_at = _level_at(distribution)
    found: list[tuple[float, float]] = []  # from the right: a level's left end, and its height in nats
    area, level, low, right, ties = 0.0, 0.0, spread, spread, 0
    while low > 0.0:
        d = difference_below(x, low)
        h, w = level_at(d) if d > 0.0 else (h0, 0.0)
        if d > 0.0 and h <= level + SAME_LEVEL:
            # Several partitions tie, and this one has wider windows than it needs.
            low, ties = min(w, d), ties + 1
            if ties < 2 or low <= 0.0:
                continue
            low, d = _left_end(x, level_at, level, low)
            if low <= 0.0:
                break
            h, w = level_at(d) if d > 0.0 else (h0, 0.0)
        found.append((low, level))
        area += level * (right - low)
        level, right, low, ties = max(h, level), low, min(w, d), 0
    if not found and spread > 0.0:  # nearly certain: h0 is below the rounding error, and H is 0 from ε_max on
        found.append((spread, 0.0))
    area += h0 * right
    epsilons, entropies = np.array([*found, (0.0, h0)])[::-1].T
    return epsilons.copy(), np.append(distribution.shannon, entropies[1:] / NATS_PER_BIT), area / NATS_PER_BIT


def _level_at(distribution: Distribution) -> Level:
    from equivoc.measure import jump_kernels as small

    x, cumulative = distribution.values, distribution.cumulative
    if len(x) <= small.SMALL:
        workspace = small.plain_workspace(len(x))
        small.fill_table(cumulative, workspace[0])
        return lambda d: small.plain_level(x, d, *workspace)
    from equivoc.measure.partition_kernels import least_costs, widest_window

    cost, source = np.empty(len(x) + 1), np.empty(len(x) + 1, np.int32)
    return lambda d: (least_costs(cumulative, x, x, d, cost, source), widest_window(x, source))


def _left_end(x: Floats, level_at: Level, level: float, right: float) -> tuple[float, float]:
    """The least difference at which H is still ``level``, by bisection, and the next smaller one (or 0)."""
    from equivoc.measure.jump_kernels import SAME_LEVEL, difference_above, difference_below

    below = 0.0
    while True:
        middle = 0.5 * (below + right)
        d = difference_below(x, min(np.nextafter(middle, np.inf), right))
        if d <= below:
            d = difference_above(x, middle)
            if d >= right:
                return right, below
        h, w = level_at(d)
        if h <= level + SAME_LEVEL:
            right = min(w, d)
            if right <= below:
                return right, 0.0
        else:
            below = d


# The optimal partition of one posterior with many values, and the surprise of each value in it.


def surprise_of_values(distribution: Distribution, eps: float) -> Floats:
    """−log2 of the mass of the window that holds each value, in bits; searched from both ends and averaged.

    >>> surprise_of_values(Distribution(np.array([1.0, 2.0, 8.0]), np.array([0.25, 0.25, 0.5])), 1.0)
    array([1., 1., 1.])
    """
    x, p = distribution.values, distribution.probabilities
    return 0.5 * (_bits(x, p, eps) + _bits(x[-1] - x[::-1], p[::-1], eps)[::-1])


def _bits(x: Floats, p: Floats, eps: float) -> Floats:
    from equivoc.measure.jump_kernels import reach
    from equivoc.measure.partition_kernels import least_costs

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
