"""The measure of posteriors that are uniform on an interval: of many cells or contributors at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.curves import curves

Floats = NDArray[np.float64]

EVEN_POINTS = 256
"""Points of the even grid that stands for an interval whose possible values are not known."""
_EXACT_VALUES = 256
# Bounds from linear programs and float sums may miss a possible value by this share of the larger bound.
_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Figures:
    """The measure of one posterior per row. Smaller is riskier, except for ``hit``. NaN: nothing to measure."""

    h0: Floats = field(repr=False)
    """H(0) in bits."""
    area: Floats = field(repr=False)
    """A in bits times the attribute's unit."""
    eps_max: Floats = field(repr=False)
    """The distance between the smallest and the largest possible value, in the attribute's unit."""
    hit: Floats = field(repr=False)
    """The largest share of the posterior that a window of length ``eps`` covers. Larger is riskier."""


def figures_on_values(low: Floats, high: Floats, values: Floats, *, eps: float = 0.0) -> Figures:
    """Each row uniform on those of the ascending ``values`` that lie in its interval; NaN if none does.

    Areas of rows with more than 256 values are estimated (mostly within 1 %).

    >>> found = figures_on_values(np.array([10.0, 0.0]), np.array([30.0, 9.0]), np.array([10.0, 20.0, 40.0]))
    >>> found.h0.tolist(), found.area.tolist(), found.hit.tolist()
    ([1.0, nan], [10.0, nan], [0.5, nan])
    """
    first, last = values_within(low, high, values)
    found = last > first
    h0, area, spread, hit = (np.full(len(low), np.nan) for _ in range(4))
    if found.any():
        from scipy import sparse

        sizes = (last - first)[found]
        starts = np.append(0, np.cumsum(sizes))
        columns = np.arange(starts[-1]) - np.repeat(starts[:-1] - first[found], sizes)
        ones = np.ones(len(columns), dtype=np.int64)
        rows = sparse.csr_array((ones, columns, starts), shape=(len(sizes), len(values)))
        measured = curves(values, rows, counts=True, tolerance=None)
        h0[found], area[found], spread[found] = measured.h0, measured.area, measured.eps_max
        hit[found] = measured.hit(eps)
    return Figures(h0, area, spread, hit)


def figures_on_steps(count: NDArray[np.int64], step: Floats, *, eps: float = 0.0) -> Figures:
    """Each row uniform on ``count`` values, ``step`` apart; NaN for a count of 0.

    >>> found = figures_on_steps(np.array([5]), np.array([2.0]), eps=2)
    >>> float(found.h0[0].round(3)), float(found.area[0].round(3)), found.hit.tolist()
    (2.322, 11.073, [0.4])
    """
    distinct, of = np.unique(count, return_inverse=True)
    alone = [_even_figures(int(k)) for k in distinct]
    h0, area = (np.array([each[at] for each in alone])[of] for at in (0, 1))
    spread = np.where(count > 0, (np.maximum(count, 1) - 1) * step, np.nan)
    covered = np.where(step > 0, np.floor(eps / np.where(step > 0, step, 1.0) * (1 + _CLOSE)) + 1, np.inf)
    hit = np.where(count > 0, np.minimum(covered / np.maximum(count, 1), 1.0), np.nan)
    return Figures(h0, area * step, spread, hit)


def figures_between(low: Floats, high: Floats, *, eps: float = 0.0) -> Figures:
    """Each row uniform on 256 even steps from ``low`` to ``high``, inclusive; one value if they are equal.

    With an infinite bound h0, area and eps_max are inf and the hit rate is 0. H(0) of such a grid is 8 bits by
    construction, so only area, eps_max and the hit rate say how narrow the interval is.

    >>> found = figures_between(np.array([0.0, 7.0]), np.array([510.0, 7.0]), eps=10)
    >>> found.h0.round(6).tolist(), found.hit.tolist(), found.eps_max.tolist()
    ([8.0, 0.0], [0.0234375, 1.0], [510.0, 0.0])
    """
    width = np.asarray(high - low)
    point = width <= _CLOSE * np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(np.float64).tiny)
    unlimited, known = np.isinf(width), np.isfinite(width)
    step = np.where(known & ~point, width, 0.0) / (EVEN_POINTS - 1)
    count = np.where(known, np.where(point, 1, EVEN_POINTS), 0)
    found = figures_on_steps(count, step, eps=eps)
    h0, area, spread = (np.where(unlimited, np.inf, each) for each in (found.h0, found.area, found.eps_max))
    return Figures(h0, area, spread, np.where(unlimited, 0.0, found.hit))


def values_within(low: Floats, high: Floats, values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each interval, the places of its values among the ascending ``values``: from the first up to the last."""
    slack = _CLOSE * np.maximum(np.abs(np.nan_to_num(low)), np.abs(np.nan_to_num(high)))
    first = np.searchsorted(values, np.where(np.isnan(low), np.inf, low - slack), side="left")
    last = np.searchsorted(values, np.where(np.isnan(high), -np.inf, high + slack), side="right")
    return first.astype(np.int64), np.maximum(first, last).astype(np.int64)


def _even_figures(count: int) -> tuple[float, float]:
    """H(0) and A of the uniform distribution on ``count`` values, 1 apart; NaN if there is none.

    With ε from m − 1 to m, windows hold m values each and the last one the remainder. The sum of these entropies is
    what the measure computes; it is used where the measure would only estimate.
    """
    if count < 1:
        return np.nan, np.nan
    if count <= _EXACT_VALUES:
        measured = curves(np.arange(count), np.ones((1, count), dtype=np.int64), counts=True)
        return float(measured.h0[0]), float(measured.area[0])
    size = np.arange(1, count)
    whole = count // size
    share, rest = size / count, (count - whole * size) / count
    left = -rest * np.log2(np.where(rest > 0, rest, 1.0))
    return float(np.log2(count)), float(np.sum(-whole * share * np.log2(share) + left))
