"""The range of one person and of the sum in each atom; what MIN and MAX say about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.answers.system import AnswerSystem, KnownExtreme
from equivoc.queries.sum_systems import contradiction

# Deductions narrow whole numbers, so they end; a chain of forced extremes longer than this stays an outer bound.
_MOST_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class AtomRanges:
    """For each atom: ``floor ≤ each person ≤ cap`` and ``low ≤ the sum of its people ≤ high``, in steps."""

    floor: NDArray[np.int64]
    cap: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def same(self, other: AtomRanges) -> bool:
        """Whether all four are equal."""
        return all(
            np.array_equal(mine, its)
            for mine, its in (
                (self.floor, other.floor),
                (self.cap, other.cap),
                (self.low, other.low),
                (self.high, other.high),
            )
        )


def ranges_from_extremes(system: AnswerSystem) -> AtomRanges:
    """The ranges before any sum: a MAX caps everyone in its query set, a MIN is a floor; then the deductions."""
    sizes = system.atoms.sizes
    floor = np.zeros(len(sizes), dtype=np.int64)
    cap = np.full(len(sizes), system.grid.steps, dtype=np.int64)
    for extreme in system.extremes:
        if extreme.kind == "max":
            cap[extreme.atoms] = np.minimum(cap[extreme.atoms], extreme.position)
        else:
            floor[extreme.atoms] = np.maximum(floor[extreme.atoms], extreme.position)
    return deduced(system, AtomRanges(floor, cap, sizes * floor, sizes * cap))


def deduced(system: AnswerSystem, ranges: AtomRanges) -> AtomRanges:
    """Narrow the ranges by one another and by "at least one person is at the extreme" until nothing changes.

    Raises the error of ``sum_systems`` if a range becomes empty.
    """
    sizes, positions = system.atoms.sizes, system.grid.positions
    gaps = has_gaps(system)
    floor, cap = ranges.floor.copy(), ranges.cap.copy()
    low, high = ranges.low.copy(), ranges.high.copy()
    for _ in range(_MOST_ROUNDS):
        before = AtomRanges(floor, cap, low, high)
        floor = np.maximum(floor, low - (sizes - 1) * cap)
        cap = np.minimum(cap, high - (sizes - 1) * floor)
        if np.any(floor > cap):
            raise contradiction()
        if gaps:
            up = np.searchsorted(positions, floor, side="left")
            down = np.searchsorted(positions, cap, side="right") - 1
            if np.any(up > down):
                raise contradiction()
            floor, cap = positions[up], positions[down]
        low, high = np.maximum(low, sizes * floor), np.minimum(high, sizes * cap)
        for extreme in system.extremes:
            _force(extreme, sizes, AtomRanges(floor, cap, low, high))
        if np.any(low > high):
            raise contradiction()
        if before.same(AtomRanges(floor, cap, low, high)):
            break
    return AtomRanges(floor, cap, low, high)


def _force(extreme: KnownExtreme, sizes: NDArray[np.int64], ranges: AtomRanges) -> None:
    """If one atom alone can have a person at the extreme, narrow its sum (in place); if none can, raise."""
    inside, position = extreme.atoms, extreme.position
    end = ranges.cap if extreme.kind == "max" else ranges.floor
    able = inside[end[inside] == position]
    if len(able) == 0:
        raise contradiction()
    if len(able) == 1:
        atom = able[0]
        others = sizes[atom] - 1
        if extreme.kind == "max":
            ranges.low[atom] = max(ranges.low[atom], position + others * ranges.floor[atom])
        else:
            ranges.high[atom] = min(ranges.high[atom], position + others * ranges.cap[atom])


def attaining(
    extreme: KnownExtreme, sizes: NDArray[np.int64], ranges: AtomRanges, sums: NDArray[np.int64]
) -> bool:
    """Whether people with these atom sums can be arranged so that somebody is at the extreme (no gaps).

    In an atom of m people between ``f`` and ``c`` somebody can be at ``c`` if ``s ≥ c + (m−1)·f``, and at ``f`` if
    ``s ≤ f + (m−1)·c``; if both hold, at both at once, and also if one person is at her least or greatest value.
    """
    inside = extreme.atoms
    floor, cap, others = ranges.floor[inside], ranges.cap[inside], sizes[inside] - 1
    if extreme.kind == "max":
        reached = (cap == extreme.position) & (sums[inside] >= cap + others * floor)
    else:
        reached = (floor == extreme.position) & (sums[inside] <= floor + others * cap)
    return bool(np.any(reached))


def unsettled(system: AnswerSystem, ranges: AtomRanges) -> tuple[KnownExtreme, ...]:
    """The extremes that the ranges alone do not guarantee to be attained."""
    sizes, floor, cap = system.atoms.sizes, ranges.floor, ranges.cap
    open_ = []
    for extreme in system.extremes:
        if has_gaps(system):
            inside = extreme.atoms
            settled = bool(np.any((floor[inside] == extreme.position) & (cap[inside] == extreme.position)))
        else:
            worst = ranges.low if extreme.kind == "max" else ranges.high
            settled = attaining(extreme, sizes, ranges, worst)
        if not settled:
            open_.append(extreme)
    return tuple(open_)


def has_gaps(system: AnswerSystem) -> bool:
    """Whether some step between the least and the greatest value is no value of the domain."""
    return len(system.grid.positions) != system.grid.steps + 1
