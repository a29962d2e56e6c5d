"""The area under H with bounds of a given relative gap, for distributions with too many jumps to compute each.

H never rises, so between two tolerances a < b it lies between H(b) and H(a): Σ H(b)(b − a) ≤ A ≤ Σ H(a)(b − a). The
intervals are cut where the gap is largest until the sums are close enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.distribution import NATS_PER_BIT, Distribution, Floats
from equivoc.measure.jumps import jumps
from equivoc.parallel import over_pieces

JUMPS_PER_VALUE = 6
"""Expected number of jumps of H per random value."""
EVALUATIONS = 4
"""A gap of t takes about EVALUATIONS / t evaluations of H."""
MOST_PARTS = 4
"""The most parts into which an interval is cut at a time."""
CELL = 1 / 16
"""The width of cells, as a share of ε times the wanted gap."""
FINEST = 2.0**-52
"""Narrowest interval, as a share of the range: below it double precision is too coarse."""


@dataclass(frozen=True, eq=False)
class CertifiedArea:
    """Bounds of A in bits × unit, and bounds of H at the evaluated tolerances (exact at 0)."""

    bounds: tuple[float, float]
    epsilons: Floats
    entropies: Floats
    """H is at least this up to each of ``epsilons``."""
    most: Floats
    """H is at most this from each of ``epsilons`` on."""


def certified_area(distribution: Distribution, tolerance: float) -> CertifiedArea:
    """Bounds of A whose gap is at most ``tolerance`` times the lower one."""
    if _expected_jumps(distribution.values) <= EVALUATIONS / tolerance:
        epsilons, entropies, area = jumps(distribution)
        return CertifiedArea((area, area), epsilons, entropies, entropies)
    bounds = _Bounds(distribution, CELL * tolerance)
    h0, spread = distribution.shannon * NATS_PER_BIT, distribution.spread
    eps, low, high = np.array([0.0, spread]), np.array([h0, 0.0]), np.array([h0, 0.0])
    while True:
        widths = np.diff(eps)
        gaps = widths * (high[:-1] - low[1:])
        certain, wanted = float(widths @ low[1:]), 0.99 * tolerance * float(widths @ low[1:])
        if gaps.sum() <= tolerance * certain:
            break
        inexact = _too_inexact(widths, high - low, wanted)
        low[inexact], high[inexact] = bounds.at(eps[inexact], exact=True)
        parts = _parts(gaps, wanted)
        parts[widths <= spread * FINEST] = 1
        cuts = [a + w * np.arange(1, m) / m for a, w, m in zip(eps, widths, parts, strict=False)]
        new = np.setdiff1d(np.concatenate(cuts), eps)
        if not len(new) and not len(inexact):
            break
        eps = np.concatenate((eps, new))
        order = np.argsort(eps, kind="stable")
        eps, (low, high) = eps[order], np.concatenate(((low, high), bounds.at(new)), axis=1)[:, order]
        # H never increases, so a bound at one tolerance is also a bound at smaller or larger ones.
        low, high = np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)
    limits = certain / NATS_PER_BIT, (certain + float(gaps.sum())) / NATS_PER_BIT
    entropies = np.minimum(low / NATS_PER_BIT, distribution.shannon)
    entropies[0] = distribution.shannon
    return CertifiedArea(limits, eps, entropies, high / NATS_PER_BIT)


def _expected_jumps(values: Floats) -> int:
    """Expected number of jumps of H. For whole numbers H can change only at multiples of their greatest common divisor.

    >>> _expected_jumps(np.array([0.0, 20.0, 30.0, 60.0])), _expected_jumps(np.array([0.0, 0.25, 0.6]))
    (6, 18)
    """
    of_reals = JUMPS_PER_VALUE * len(values)
    steps = np.diff(values)
    if not len(steps) or steps.max() >= 2.0**53 or not np.array_equal(steps, np.rint(steps)):
        return of_reals
    divisor = int(np.gcd.reduce(steps.astype(np.int64)))
    return min(of_reals, int((values[-1] - values[0]) / divisor))


class _Bounds:
    """Bounds of one distribution's H, in nats, at several tolerances at a time."""

    def __init__(self, distribution: Distribution, cell: float) -> None:
        self._values, self._cumulative, self._cell = distribution.values, distribution.cumulative, cell

    def at(self, eps: Floats, *, exact: bool = False) -> Floats:
        """Two rows: lower and upper bounds."""
        from equivoc.measure.area_kernels import bounds_at

        found = np.empty((2, len(eps)))

        def work(part: slice) -> None:
            for t in range(len(eps))[part]:
                cell = 0.0 if exact else self._cell * eps[t]
                found[:, t] = bounds_at(self._values, self._cumulative, eps[t], cell)

        over_pieces(work, len(eps), piece=1)
        return found


def _parts(gaps: Floats, wanted: float) -> NDArray[np.int64]:
    """In how many parts to cut each interval; at least one of them in two.

    In m parts an interval keeps about 1/m of its gap. Gaps that sum up to ``wanted`` for the fewest parts are all
    equal, so m grows with the root of the gap.

    >>> _parts(np.array([1.0, 4.0]), 1 / 2 + 4 / 4).tolist()
    [2, 4]
    """
    if wanted <= 0.0:
        return 1 + (MOST_PARTS - 1) * (gaps > 0.0).astype(np.int64)
    roots = np.sqrt(np.maximum(gaps, 0.0))
    most: NDArray[np.float64] = np.clip(np.ceil(roots * (roots.sum() / wanted)), 1, MOST_PARTS)
    parts = most.astype(np.int64)
    if parts.max() < 2:
        parts[np.argmax(gaps)] = 2
    return parts


def _too_inexact(widths: Floats, doubts: Floats, wanted: float) -> NDArray[np.intp]:
    """The tolerances at which H needs tighter bounds: where these bounds use up half of the wanted gap."""
    share = doubts * (np.append(0.0, widths) + np.append(widths, 0.0))
    order = np.argsort(-share, kind="stable")
    count = 0
    if wanted > 0.0 and share.sum() > 0.5 * wanted:
        count = 1 + int(np.searchsorted(np.cumsum(share[order]), share.sum() - 0.25 * wanted))
    worst: NDArray[np.intp] = order[:count]
    return worst


# Estimated area under H, for rows with many values when no certified area is requested.

TAIL = 1e-12
"""Probability at either end that is left out if its effect is negligible."""
OF_TAILS = 1e-10
"""More than the entropy of both tails, in nats."""
CHECKED_TO = 5e-3
"""The relative gap of the certified areas that estimates are checked against."""


def estimated_area(distribution: Distribution) -> float:
    """A in bits × unit, mostly within 1 %."""
    from equivoc.measure import area_kernels as kernels

    x, cumulative = distribution.values, distribution.cumulative
    h0 = distribution.shannon * NATS_PER_BIT
    # Extreme values with negligible probability make every evaluation slow.
    first, past = np.searchsorted(cumulative, [TAIL, cumulative[-1] - TAIL]).tolist()
    if first > 1 or past < len(x):
        first = max(first - 1, 0)
        area = float(
            kernels.estimated_area(x[first:past], cumulative[first : past + 1] - cumulative[first], h0)
        )
        if distribution.spread * OF_TAILS <= 1e-3 * area:
            return area / NATS_PER_BIT
    return float(kernels.estimated_area(x, cumulative, h0)) / NATS_PER_BIT


def largest_error(estimates: Sequence[tuple[Distribution, float]]) -> float:
    """Upper bound of the relative error of these estimated areas; 0.0 if there are none.

    Each estimate is compared with the farther of its two certified bounds.
    """
    found = [0.0]

    def check(part: slice) -> None:
        for distribution, estimate in estimates[part]:
            low, high = certified_area(distribution, CHECKED_TO).bounds
            found.append(max(abs(estimate - low), abs(estimate - high)) / low)

    over_pieces(check, len(estimates), piece=1)
    return max(found)
