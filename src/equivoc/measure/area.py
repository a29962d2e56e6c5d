"""The area under H, certified to a relative gap, for distributions too large to follow every jump.

The range of ε is cut into intervals, each with a lower and an upper bound of H (area_bounds.py): by halves at first,
where that closes most of the gap for its work; once the gap is not far from what is wanted, as a plan for all says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.area_bounds import Bounds
from equivoc.measure.breakpoints import jumps
from equivoc.measure.distribution import Distribution, Floats
from equivoc.measure.entropy import NATS_PER_BIT
from equivoc.measure.parallel import all_of

MOST_JUMPS = 6_000
"""Up to about so many jumps, following all of them is faster than closing in on the area."""
JUMPS_PER_VALUE = 6
"""What random values have."""
FINEST = 2.0**-52
"""Narrower intervals, as shares of the range, would be finer than double precision."""
PLAN_FROM = 8.0
"""From so many times the gap that is wanted on, it is planned how finely each interval is cut."""
MOST_PARTS = 64
"""No interval is cut into more at a time."""
WORTH = 0.35
"""An interval is halved along with the best one if that gains at least this share per work."""


@dataclass(frozen=True, eq=False)
class CertifiedArea:
    """Bounds of A in bits × unit, and bounds of H at the tolerances that were looked at (exact at 0)."""

    bounds: tuple[float, float]
    epsilons: Floats
    entropies: Floats
    """H is at least this up to each of ``epsilons``."""
    most: Floats
    """H is at most this from each of ``epsilons`` on."""


def _expected_jumps(values: Floats) -> int:
    """About how often H changes: H of whole numbers can only do so at multiples of their steps' common divisor.

    >>> _expected_jumps(np.array([0.0, 20.0, 30.0, 60.0])), _expected_jumps(np.array([0.0, 0.25, 0.6]))
    (6, 18)
    """
    of_reals = JUMPS_PER_VALUE * len(values)
    steps = np.diff(values)
    if not len(steps) or steps.max() >= 2.0**53 or not np.array_equal(steps, np.rint(steps)):
        return of_reals
    divisor = int(np.gcd.reduce(steps.astype(np.int64)))
    return min(of_reals, int((values[-1] - values[0]) / divisor))


def _planned(gaps: Floats, work: Floats, powers: Floats, wanted: float) -> NDArray[np.int64]:
    """In how many parts to cut each interval so that their gaps sum up to ``wanted`` for the least work.

    In m parts an interval has about 1/m of its gap and takes m^power times its work. The best m are those at which one
    more unit of work gains the same everywhere.

    >>> _planned(np.array([1.0, 4.0]), np.ones(2), np.ones(2), 1 / 4 + 4 / 8).tolist()
    [4, 8]
    """
    gaps = gaps / wanted
    rates = gaps / (work * powers)
    low, high = -60.0, 60.0  # the logarithm of what a unit of work gains
    parts = np.ones(len(gaps))
    for _ in range(60):
        middle = 0.5 * (low + high)
        parts = np.maximum((rates * np.exp(-middle)) ** (1.0 / (powers + 1.0)), 1.0)
        low, high = (middle, high) if float((gaps / parts).sum()) < 1.0 else (low, middle)
    return np.rint(np.minimum(parts, MOST_PARTS)).astype(np.int64)


def _worth_halving(gaps: Floats, work: Floats, needed: float) -> NDArray[np.int64]:
    """Those whose halving gains most for its work; as many as it takes to lose ``needed``."""
    gains = gaps / work
    order = np.argsort(-gains, kind="stable")
    count = int(np.searchsorted(np.cumsum(gaps[order]) * 0.5, needed)) + 1
    worth: NDArray[np.int64] = order[:count][gains[order[:count]] >= WORTH * gains[order[0]]]
    return worth


def _cuts(figures: Floats, wanted: float, *, plan: bool) -> NDArray[np.int64]:
    """In how many parts to cut each interval next; some of them in two at least."""
    _, gaps, _, work, powers = figures.T
    parts = _planned(gaps, work, powers, wanted) if plan else np.ones(len(gaps), np.int64)
    if parts.max() == 1:
        parts[_worth_halving(gaps, work, float(gaps.sum()) - wanted)] = 2
    return parts


def certified_area(distribution: Distribution, tolerance: float) -> CertifiedArea:
    """Bounds of A whose gap is at most ``tolerance`` times the lower one."""
    if _expected_jumps(distribution.values) <= MOST_JUMPS:
        epsilons, entropies, area = jumps(distribution)
        return CertifiedArea((area, area), epsilons, entropies, entropies)
    bounds = Bounds(distribution)
    intervals = [bounds.whole]
    planned = False
    while True:
        figures = np.array([i.figures for i in intervals])
        low, gap = figures[:, :2].sum(axis=0).tolist()
        wanted = 0.99 * tolerance * low
        if gap <= tolerance * low:
            break
        plan = gap < PLAN_FROM * wanted and not planned
        planned = planned or plan
        parts = _cuts(figures, wanted, plan=plan)
        parts[figures[:, 2] <= bounds.spread * FINEST] = 1
        if parts.max() == 1:
            break
        costly_first = np.argsort(-figures[:, 3] * parts, kind="stable")
        asked = costly_first[parts[costly_first] > 1].tolist()
        cut = all_of([partial(bounds.cut, intervals[t], int(parts[t])) for t in asked])
        instead = dict(zip(asked, cut, strict=True))
        intervals = [part for t, i in enumerate(intervals) for part in instead.get(t, [i])]
    ends = np.array([i.right for i in intervals])
    lows = np.maximum.accumulate(np.array([i.low for i in intervals])[::-1])[::-1]
    return CertifiedArea(
        (low / NATS_PER_BIT, (low + gap) / NATS_PER_BIT),
        np.concatenate(([0.0], ends)),
        np.concatenate(([distribution.shannon], lows / NATS_PER_BIT)),
        np.append(np.minimum.accumulate([i.most for i in intervals]) / NATS_PER_BIT, 0.0),
    )
