"""Both bounds of H over an interval of ε, and the finer ones over its parts: what the certified area is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.distribution import Distribution
from equivoc.measure.entropy import NATS_PER_BIT
from equivoc.measure.overtaking import overtaking_table

PER_INTERVAL = 2
"""How many stretches are as wide as the interval of ε that they serve."""
PROMISING = 0.5
"""Bounds closer than this share of the heaviest window's mass may tell where no good partition cuts."""
IN_VAIN = 0.9
"""If more than this share of the boundaries may be cut at for all it tells, the parts do not ask, but theirs do."""
PLACES = 6
"""How many upper bounds an interval of ε gets."""
MOST_AT_ONCE = 20
"""An interval is cut into less than so many parts for what is known of it alone."""
WORK_PER_INTERVAL, WORK_PER_WINDOW, WORK_PER_TRIAL = 500.0, 1.5, 0.02
"""What an interval, an upper bound's window and a window to choose from cost, in the time that a stretch takes."""


@dataclass(frozen=True, eq=False)
class Stretches:
    """Runs of neighbouring values: where they begin, and which of them no partition that matters cuts."""

    begins: NDArray[np.int64]
    solid: NDArray[np.bool_]
    number: int
    """They are as wide as so many equal parts of the values' range, or narrower, or solid."""
    everywhere: bool
    """Are they so wide everywhere, with no solid ones joined?"""


@dataclass(frozen=True, eq=False)
class Interval:
    """Bounds of H in nats for ε from ``left`` to ``right``."""

    left: float
    right: float
    low: float
    """H is at least this."""
    most: float
    """And at most this."""
    gap: float
    """By how much its area is uncertain."""
    work: float
    """About what it cost, in the time that a stretch takes."""
    promising: bool
    """May it pay to ask where no good partition cuts?"""
    stretches: Stretches

    @property
    def figures(self) -> tuple[float, float, float, float, float]:
        """The area that is certain, by how much it is uncertain, the width, the work, and the power of m to which the
        work grows when it is cut into m parts: each sees m times as many stretches, unless few places can be cut."""
        width = self.right - self.left
        return self.low * width, self.gap, width, self.work, 2.0 if self.stretches.everywhere else 1.0


class Bounds:
    """The bounds of one distribution's H."""

    def __init__(self, distribution: Distribution) -> None:
        self.values = distribution.values
        self.cumulative = distribution.cumulative
        self.spread = distribution.spread
        self._everywhere: dict[int, Stretches] = {}
        h0 = distribution.shannon * NATS_PER_BIT
        (self.whole,) = self._parts(
            0.0, self.spread, 1, self._every(PER_INTERVAL), low=0.0, most=h0, promising=True
        )

    def _every(self, number: int) -> Stretches:
        """Stretches of equal width everywhere."""
        if number not in self._everywhere:
            x = self.values
            cell = ((x - x[0]) * (number / self.spread)).astype(np.int64)
            begins = np.concatenate(([0], np.flatnonzero(np.diff(cell)) + 1, [len(x)]))
            self._everywhere[number] = Stretches(begins, np.diff(begins) == 1, number, everywhere=True)
        return self._everywhere[number]

    def _parts(
        self,
        left: float,
        right: float,
        number: int,
        stretches: Stretches,
        *,
        low: float,
        most: float,
        promising: bool,
    ) -> list[Interval]:
        """Equal parts of an interval over which H is known to lie between ``low`` and ``most``."""
        from equivoc.measure import area_kernels as kernels

        x, cumulative, begins, solid = self.values, self.cumulative, stretches.begins, stretches.solid
        rows = kernels.bounds(
            x, cumulative, begins, solid, left, right, number, low, most, PLACES, overtaking_table()
        )
        found = []
        for begin, end, least, first, gap, windows, heaviest, tried in rows.tolist():
            work = min(WORK_PER_TRIAL * tried, len(solid))
            work *= 1.0 if stretches.everywhere else 2.0  # it is searched for places without cuts as well
            work += WORK_PER_INTERVAL + PLACES * WORK_PER_WINDOW * windows
            close = first - least < PROMISING * heaviest
            found.append(Interval(begin, end, least, first, gap, work, promising and close, stretches))
        return found

    def cut(self, whole: Interval, parts: int) -> list[Interval]:
        """The same in so many parts of equal width, or in a few less."""
        if whole.stretches.everywhere or parts < MOST_AT_ONCE:
            return self.parts(whole, parts)
        # Quarters tell better where no good partition cuts.
        return [part for quarter in self.parts(whole, 4) for part in self.cut(quarter, parts // 4)]

    def parts(self, whole: Interval, number: int) -> list[Interval]:
        """The same in so many parts of equal width."""
        stretches, kept = self._finer(whole, number)
        return self._parts(
            whole.left,
            whole.right,
            number,
            stretches,
            low=whole.low,
            most=whole.most,
            promising=not whole.promising or kept <= IN_VAIN,
        )

    def _finer(self, whole: Interval, times: int) -> tuple[Stretches, float]:
        """Narrower stretches where a partition that costs less than ``whole.most`` may cut; at what share it may."""
        from equivoc.measure import stretch_kernels as kernels

        x, begins, solid = self.values, whole.stretches.begins, whole.stretches.solid
        number = whole.stretches.number * times
        if whole.promising:
            table = overtaking_table()
            may_cut = kernels.may_cut_at(x, self.cumulative, begins, solid, whole.right, whole.most, table)
        else:
            may_cut = np.ones(len(begins), np.bool_)
        kept = np.count_nonzero(may_cut) / len(may_cut)
        if whole.stretches.everywhere and kept == 1.0:
            return self._every(number), kept
        begins, solid = kernels.refined(x, begins, solid, may_cut, number)
        return Stretches(begins, solid, number, everywhere=False), kept
