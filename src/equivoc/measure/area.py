"""The area under H, certified to a relative gap, for distributions too large to follow every jump.

The range of ε is bisected where that closes most of the gap for its cost. H is bounded from below at an interval's
right end and from above at six places within it; both bounds are cheap because they see groups of values no wider
than a fraction of the interval instead of every value. H never rises, so the bounds hold up to the next place.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.breakpoints import jumps
from equivoc.measure.distribution import Distribution, Floats
from equivoc.measure.entropy import NATS_PER_BIT
from equivoc.measure.overtaking import overtaking_table
from equivoc.measure.parallel import cores

MOST_JUMPS = 6_000
"""Up to about so many jumps, following all of them is faster than closing in on the area."""
JUMPS_PER_VALUE = 6
"""What random values have."""
FINER = 1
"""Groups are 2^FINER times narrower than the interval of ε they serve."""
FINEST_LEVEL = 52
"""Beyond this many halvings ε would be finer than double precision."""
PLACES = 6
"""How many upper bounds an interval of ε gets."""
WORTH = 0.35
"""An interval is halved along with the best one if that gains at least this share per work."""


@dataclass(frozen=True, eq=False)
class CertifiedArea:
    """Bounds of A in bits × unit, and lower bounds of H at the tolerances that were looked at (exact at 0)."""

    bounds: tuple[float, float]
    epsilons: Floats
    entropies: Floats


@dataclass(frozen=True, eq=False)
class _Groups:
    """Runs of neighbouring values: their extremes, the cumulative probabilities between them, where they begin."""

    lows: Floats
    highs: Floats
    cumulative: Floats
    begins: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Interval:
    """The piece k of the 2^level equal pieces of [0, ε_max], with bounds in nats."""

    level: int
    k: int
    low: float
    """H at the right end is at least this."""
    gap: float
    work: float


class _Bounds:
    """Both bounds of H for one distribution."""

    def __init__(self, distribution: Distribution) -> None:
        self.values = distribution.values
        self.cumulative = distribution.cumulative
        self.spread = distribution.spread
        self.h0 = distribution.shannon * NATS_PER_BIT
        self._groups: dict[int, _Groups] = {}

    @cached_property
    def finest(self) -> int:
        """The level from which on groups would not be much fewer than values."""
        return int(np.log2(len(self.values)))

    def groups(self, level: int) -> _Groups:
        level = min(level, self.finest)
        if level not in self._groups:
            x, cum = self.values, self.cumulative
            if level == self.finest:
                begins = np.arange(len(x) + 1)
            else:
                cell = ((x - x[0]) * (2.0**level / self.spread)).astype(np.int64)
                begins = np.concatenate(([0], np.flatnonzero(np.diff(cell)) + 1, [len(x)]))
            self._groups[level] = _Groups(x[begins[:-1]], x[begins[1:] - 1], cum[begins], begins)
        return self._groups[level]

    def _below(self, groups: _Groups, eps: float) -> tuple[float, NDArray[np.int64]]:
        """A lower bound of H(ε) in nats, and the heaviest windows of its solution."""
        from equivoc.measure import area_kernels as kernels

        if eps >= self.spread:
            return 0.0, np.zeros((0, 2), np.int64)
        found: tuple[float, NDArray[np.int64]] = kernels.below(
            groups.lows, groups.highs, groups.cumulative, eps, overtaking_table()
        )
        return found

    def interval(self, level: int, k: int, floor: float) -> _Interval:
        """Bounds over piece k of level ``level``; ``floor`` is a lower bound that its parent had."""
        from equivoc.measure import area_kernels as kernels

        width, left, right = (self.spread * (part / 2**level) for part in (1, k, k + 1))
        groups = self.groups(level + FINER)
        low, peaks = self._below(groups, right)
        low = max(low, floor)
        high = self.h0
        if level + FINER >= self.finest and k > 0:
            # Groups are single values now, so this is H itself: however fine, the bounds must come together.
            high = self._below(groups, left)[0]
        mean = kernels.mean_above(
            self.values, self.cumulative, groups.begins, peaks, left, width, PLACES, high, low
        )
        # The search has no work to do in what the first window covers.
        work = len(groups.lows) * (1.05 - right / self.spread)
        return _Interval(level, k, low, (mean - low) * width, work)


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


def certified_area(distribution: Distribution, tolerance: float) -> CertifiedArea:
    """Bounds of A whose gap is at most ``tolerance`` times the lower one."""
    if _expected_jumps(distribution.values) <= MOST_JUMPS:
        epsilons, entropies, area = jumps(distribution)
        return CertifiedArea((area, area), epsilons, entropies)
    bounds = _Bounds(distribution)
    intervals = [bounds.interval(0, 0, 0.0)]
    with ThreadPoolExecutor(cores()) as pool:
        while True:
            width = np.array([bounds.spread / 2**i.level for i in intervals])
            low = float(np.dot([i.low for i in intervals], width))
            gaps = np.array([i.gap for i in intervals])
            gap = float(gaps.sum())
            if gap <= tolerance * low:
                break
            # Of the intervals, those first whose halving gains most for its work; as many as the gap needs.
            gain = gaps / np.array([i.work for i in intervals])
            order = np.argsort(-gain, kind="stable")
            needed = gap - 0.99 * tolerance * low
            count = int(np.searchsorted(np.cumsum(gaps[order]) * 0.5, needed)) + 1
            worth = (t for t in order[:count].tolist() if gain[t] >= WORTH * gain[order[0]])
            chosen = {t for t in worth if intervals[t].level < FINEST_LEVEL}
            if not chosen:
                break
            halves = []
            for place, i in enumerate(intervals):
                if place in chosen:
                    halves.append(pool.submit(bounds.interval, i.level + 1, 2 * i.k, i.low))
                    halves.append(pool.submit(bounds.interval, i.level + 1, 2 * i.k + 1, i.low))
            done = iter([h.result() for h in halves])
            after = []
            for place, i in enumerate(intervals):
                after += [next(done), next(done)] if place in chosen else [i]
            intervals = after
    low_area, high_area = low / NATS_PER_BIT, (low + gap) / NATS_PER_BIT
    ends = np.array([bounds.spread * ((i.k + 1) / 2**i.level) for i in intervals])
    lows = np.maximum.accumulate(np.array([i.low for i in intervals])[::-1])[::-1] / NATS_PER_BIT
    return CertifiedArea(
        (low_area, high_area),
        np.concatenate(([0.0], ends)),
        np.concatenate(([distribution.shannon], lows)),
    )
