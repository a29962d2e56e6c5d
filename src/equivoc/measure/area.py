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
PROMISING = 0.5
"""Bounds closer than this share of the heaviest window's mass may tell where no good partition cuts."""
WORK_PER_INTERVAL = 300.0
WORK_PER_WINDOW = 2.0
"""In the time that a stretch takes."""
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
class _Stretches:
    """Runs of neighbouring values: where they begin, and which of them no partition that matters cuts."""

    begins: NDArray[np.int64]
    solid: NDArray[np.bool_]
    everywhere: bool
    """Are they equally wide everywhere?"""


@dataclass(frozen=True, eq=False)
class _Interval:
    """The piece k of the 2^level equal pieces of [0, ε_max], with bounds in nats."""

    level: int
    k: int
    width: float
    stretches: _Stretches
    low: float
    """H is at least this."""
    most: float
    """And at most this."""
    gap: float
    """By how much its area is uncertain."""
    work: float
    promising: bool
    """Are the bounds close enough to tell where no good partition cuts?"""

    @property
    def figures(self) -> tuple[float, float, float]:
        """The area below, its uncertainty, and how much of that an amount of work removes."""
        return self.low * self.width, self.gap, self.gap / self.work


class _Bounds:
    """Both bounds of H for one distribution."""

    def __init__(self, distribution: Distribution) -> None:
        self.values = distribution.values
        self.cumulative = distribution.cumulative
        self.spread = distribution.spread
        self.finest = int(np.log2(len(self.values)))
        self._all: dict[int, _Stretches] = {}
        self.whole = self._interval(0, 0, self._every(1), 0.0, distribution.shannon * NATS_PER_BIT)

    def _every(self, level: int) -> _Stretches:
        """Stretches of equal width everywhere: 2^level of them; single values beyond the finest level."""
        level = min(level, self.finest)
        if level not in self._all:
            x = self.values
            if level == self.finest:
                begins = np.arange(len(x) + 1)
            else:
                cell = ((x - x[0]) * (2.0**level / self.spread)).astype(np.int64)
                begins = np.concatenate(([0], np.flatnonzero(np.diff(cell)) + 1, [len(x)]))
            self._all[level] = _Stretches(begins, np.diff(begins) == 1, everywhere=True)
        return self._all[level]

    def _interval(self, level: int, k: int, stretches: _Stretches, low: float, most: float) -> _Interval:
        from equivoc.measure import area_kernels as kernels

        width, left, right = (self.spread * (part / 2**level) for part in (1, k, k + 1))
        found, mean, first, windows, heaviest = kernels.bounds(
            self.values,
            self.cumulative,
            stretches.begins,
            stretches.solid,
            left,
            right,
            most,
            PLACES,
            overtaking_table(),
        )
        low = max(low, found)
        work = WORK_PER_INTERVAL + len(stretches.solid) + PLACES * WORK_PER_WINDOW * windows
        gap = max(mean - low, 0.0) * width
        return _Interval(level, k, width, stretches, low, first, gap, work, first - low < PROMISING * heaviest)

    def halves(self, whole: _Interval) -> list[_Interval]:
        stretches = self._finer(whole)
        return [
            self._interval(whole.level + 1, 2 * whole.k + side, stretches, whole.low, whole.most)
            for side in (0, 1)
        ]

    def _finer(self, whole: _Interval) -> _Stretches:
        """Stretches half as wide, without those that a partition which costs less than ``whole.most`` does not cut."""
        from equivoc.measure import stretch_kernels as kernels

        level = whole.level + 1 + FINER
        begins, solid = whole.stretches.begins, whole.stretches.solid
        may_cut = np.ones(len(begins), np.bool_)
        if whole.promising:
            right = self.spread * ((whole.k + 1) / 2**whole.level)
            may_cut = kernels.alive(
                self.values, self.cumulative, begins, solid, right, whole.most, overtaking_table()
            )
        if whole.stretches.everywhere and may_cut.all():
            return self._every(level)
        unit = self.spread / 2**level
        finer = kernels.refined(self.values, begins, solid, may_cut, unit, level >= self.finest)
        return _Stretches(*finer, everywhere=False)


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


def _worth_halving(gaps: Floats, gains: Floats, needed: float) -> list[int]:
    """Of the intervals those first whose halving gains most for its work; as many as it takes to lose ``needed``."""
    order = np.argsort(-gains, kind="stable")
    count = int(np.searchsorted(np.cumsum(gaps[order]) * 0.5, needed)) + 1
    first = order[:count]
    return np.sort(first[gains[first] >= WORTH * gains[order[0]]]).tolist()


def certified_area(distribution: Distribution, tolerance: float) -> CertifiedArea:
    """Bounds of A whose gap is at most ``tolerance`` times the lower one."""
    if _expected_jumps(distribution.values) <= MOST_JUMPS:
        epsilons, entropies, area = jumps(distribution)
        return CertifiedArea((area, area), epsilons, entropies)
    bounds = _Bounds(distribution)
    intervals = [bounds.whole]
    lows, gaps, gains = (np.array([v]) for v in bounds.whole.figures)
    with ThreadPoolExecutor(cores()) as pool:
        while (gap := float(gaps.sum())) > tolerance * (low := float(lows.sum())):
            chosen = _worth_halving(gaps, gains, gap - 0.99 * tolerance * low)
            chosen = [t for t in chosen if intervals[t].level < FINEST_LEVEL]
            if not chosen:
                break
            halves = list(pool.map(bounds.halves, [intervals[t] for t in chosen]))
            for t, (left, _) in zip(chosen, halves, strict=True):
                intervals[t] = left
                lows[t], gaps[t], gains[t] = left.figures
            intervals += [right for _, right in halves]
            added = np.array([right.figures for _, right in halves]).T
            lows, gaps, gains = (np.concatenate(pair) for pair in zip((lows, gaps, gains), added, strict=True))
    low_area, high_area = low / NATS_PER_BIT, (low + gap) / NATS_PER_BIT
    intervals.sort(key=lambda i: i.k / 2**i.level)
    ends = np.array([bounds.spread * ((i.k + 1) / 2**i.level) for i in intervals])
    lower = np.maximum.accumulate(np.array([i.low for i in intervals])[::-1])[::-1] / NATS_PER_BIT
    return CertifiedArea(
        (low_area, high_area),
        np.concatenate(([0.0], ends)),
        np.concatenate(([distribution.shannon], lower)),
    )
