"""The area under H, certified to a relative gap, for distributions too large to follow every jump.

The range of ε is bisected where that closes most of the gap for its cost. H is bounded from below at an interval's
right end and from above at six places within it; both bounds are cheap because they see groups of values no wider
than a fraction of the interval instead of every value. H never rises, so the bounds hold up to the next place.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.area_bounds import Bounds, Interval
from equivoc.measure.breakpoints import jumps
from equivoc.measure.distribution import Distribution, Floats
from equivoc.measure.entropy import NATS_PER_BIT
from equivoc.measure.parallel import cores

MOST_JUMPS = 6_000
"""Up to about so many jumps, following all of them is faster than closing in on the area."""
JUMPS_PER_VALUE = 6
"""What random values have."""
FINEST = 2.0**-52
"""Narrower intervals, as shares of the range, would be finer than double precision."""
PLAN_FROM = 5.0
"""From so many times the gap that is wanted on, it is planned how finely each interval is cut."""
MOST_PARTS = 64
WORTH = 0.35
"""An interval is halved along with the best one if that gains at least this share per work."""


@dataclass(frozen=True, eq=False)
class CertifiedArea:
    """Bounds of A in bits × unit, and lower bounds of H at the tolerances that were looked at (exact at 0)."""

    bounds: tuple[float, float]
    epsilons: Floats
    entropies: Floats


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


def _parts(gaps: Floats, work: Floats, everywhere: NDArray[np.bool_], wanted: float) -> NDArray[np.int64]:
    """In how many parts to cut each interval so that the gaps' sum becomes ``wanted`` for the least work.

    In m parts an interval has about 1/m of the gap. That takes m² times the work where stretches are equally wide
    ``everywhere``, for each part then sees m times as many; else m times, for they hardly become more. Where m is
    best, one more unit of work gains as much as at any other interval.
    """
    power = np.where(everywhere, 3.0, 2.0)
    rate = gaps / (work * (power - 1.0))
    low, high = -200.0, 200.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        parts = np.maximum((rate * np.exp(-middle)) ** (1.0 / power), 1.0)
        low, high = (middle, high) if float((gaps / parts).sum()) < wanted else (low, middle)
    return np.rint(np.minimum(parts, MOST_PARTS)).astype(np.int64)


def _worth_halving(gaps: Floats, work: Floats, needed: float) -> NDArray[np.int64]:
    """Those whose halving gains most for its work; as many as it takes to lose ``needed``."""
    gains = gaps / work
    order = np.argsort(-gains, kind="stable")
    count = int(np.searchsorted(np.cumsum(gaps[order]) * 0.5, needed)) + 1
    first = order[:count]
    return np.sort(first[gains[first] >= WORTH * gains[order[0]]])


def certified_area(distribution: Distribution, tolerance: float) -> CertifiedArea:
    """Bounds of A whose gap is at most ``tolerance`` times the lower one."""
    if _expected_jumps(distribution.values) <= MOST_JUMPS:
        epsilons, entropies, area = jumps(distribution)
        return CertifiedArea((area, area), epsilons, entropies)
    bounds = Bounds(distribution)
    intervals = [bounds.whole]
    planned = False
    with ThreadPoolExecutor(cores()) as pool:
        while True:
            lows, gaps, work, width = np.array([i.figures for i in intervals]).T
            low, gap = float(lows.sum()), float(gaps.sum())
            if gap <= tolerance * low:
                break
            wanted = 0.99 * tolerance * low
            parts = np.ones(len(intervals), np.int64)
            if gap < PLAN_FROM * wanted and not planned:
                planned = True
                parts = _parts(gaps, work, np.array([i.stretches.everywhere for i in intervals]), wanted)
            if parts.max() == 1:
                parts[_worth_halving(gaps, work, gap - wanted)] = 2
            parts[width <= bounds.spread * FINEST] = 1
            if parts.max() == 1:
                break
            costly_first = np.argsort(-work * parts, kind="stable")
            coming = {
                t: pool.submit(_cut, bounds, intervals[t], int(parts[t]))
                for t in costly_first[parts[costly_first] > 1].tolist()
            }
            intervals = [
                part for t, i in enumerate(intervals) for part in (coming[t].result() if t in coming else [i])
            ]
    low_area, high_area = low / NATS_PER_BIT, (low + gap) / NATS_PER_BIT
    ends = np.array([i.right for i in intervals])
    lower = np.maximum.accumulate(np.array([i.low for i in intervals])[::-1])[::-1] / NATS_PER_BIT
    return CertifiedArea(
        (low_area, high_area),
        np.concatenate(([0.0], ends)),
        np.concatenate(([distribution.shannon], lower)),
    )


def _cut(bounds: Bounds, whole: Interval, parts: int) -> list[Interval]:
    if whole.stretches.everywhere or parts < 4:
        return bounds.parts(whole, parts)
    # Each halving shows better where no good partition cuts.
    return [part for half in bounds.parts(whole, 2) for part in _cut(bounds, half, parts // 2)]
