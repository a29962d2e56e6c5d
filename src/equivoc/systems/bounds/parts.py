"""Parts of a system that share no sum and no open extreme, and the whole-number solutions seen of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.sum_systems import SumSystem, components, contradiction
from equivoc.systems.system import AnswerSystem, KnownExtreme

# The range of one person and of the sum in each atom; what MIN and MAX say about them.

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


# A sum this close to a whole number of steps is that number; the exact check of the rows follows.
_WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class Part:
    """Atoms whose sums are not yet fixed, linked by known sums and by extremes that are not yet sure to be attained."""

    atoms: NDArray[np.int64]
    """Their numbers in the system; everything else counts from 0 within the part."""
    matrix: Any = field(repr=False)
    """A scipy CSR array of 0 and 1, known sums × atoms of the part, no row empty."""
    totals: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ranges: AtomRanges
    extremes: tuple[KnownExtreme, ...]
    whole: bool
    """Whether the domain has no gaps: people of an atom can then have any sum between their least and greatest."""

    def sum_system(self, *, scale: float = 1.0) -> SumSystem:
        """The known sums as a system of real unknowns, in units of ``scale`` steps above each atom's lower bound."""
        low, high = self.ranges.low, self.ranges.high
        return SumSystem(
            self.matrix.astype(np.float64),
            (self.totals - self.matrix @ low) / scale,
            np.zeros(len(low)),
            (high - low) / scale,
            rounding=1e-9,
        )

    def narrowed(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> Part:
        """The part with narrower ranges of its atoms' sums."""
        return replace(self, ranges=AtomRanges(self.ranges.floor, self.ranges.cap, low, high))


class AttainedSums:
    """The least and greatest sum of each atom of a part among the whole-number solutions noted so far."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.least = part.ranges.high + 1
        self.greatest = part.ranges.low - 1

    def note(self, sums: NDArray[np.float64]) -> None:
        """Note one solution if it is a solution in whole numbers for which people with all extremes exist."""
        part = self.part
        if not part.whole:
            return
        rounded = np.rint(sums)
        if np.max(np.abs(sums - rounded), initial=0.0) > _WHOLE:
            return
        number = rounded.astype(np.int64)
        if (
            np.all((number >= part.ranges.low) & (number <= part.ranges.high))
            and np.array_equal(part.matrix @ number, part.totals)
            and all(attaining(extreme, part.sizes, part.ranges, number) for extreme in part.extremes)
        ):
            np.minimum(self.least, number, out=self.least)
            np.maximum(self.greatest, number, out=self.greatest)

    def open_ends(self, floor: NDArray[np.int64], cap: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether noted solutions give a person of the atom her ``floor``, and one her ``cap``."""
        others = self.part.sizes - 1
        seen = self.least <= self.greatest
        lowest = np.maximum(self.part.ranges.floor, self.least - others * self.part.ranges.cap)
        highest = np.minimum(self.part.ranges.cap, self.greatest - others * self.part.ranges.floor)
        return seen & (lowest <= floor) & (highest >= cap)


def parts(system: AnswerSystem, ranges: AtomRanges) -> Iterator[Part]:
    """The parts of the system; atoms whose sum (with gaps: whose values) the ranges fix belong to none."""
    from scipy import sparse

    whole = not has_gaps(system)
    fixed = ranges.low == ranges.high if whole else ranges.floor == ranges.cap
    matrix = system.matrix[:, np.flatnonzero(~fixed)]
    totals = system.totals - system.matrix @ np.where(fixed, ranges.low, 0)
    kept = np.flatnonzero(np.diff(matrix.indptr) > 0)
    matrix, totals = matrix[kept], totals[kept]
    number = np.cumsum(~fixed) - 1
    extremes = tuple(
        replace(extreme, atoms=number[extreme.atoms[~fixed[extreme.atoms]]])
        for extreme in unsettled(system, ranges)
    )
    links = _links(extremes, matrix.shape[1])
    linked = sparse.csr_array(sparse.vstack([matrix, links], format="csr"))
    atoms = np.flatnonzero(~fixed)
    nothing = np.zeros(0)
    for rows, columns in components(SumSystem(linked, nothing, nothing, nothing, 0.0)):
        if len(rows) == 0 or len(columns) == 0:
            continue
        inside = atoms[columns]
        local = np.zeros(matrix.shape[1], dtype=np.int64)
        local[columns] = np.arange(len(columns))
        known = rows[rows < len(totals)]
        yield Part(
            inside,
            matrix[known][:, columns],
            totals[known],
            system.atoms.sizes[inside],
            AtomRanges(ranges.floor[inside], ranges.cap[inside], ranges.low[inside], ranges.high[inside]),
            tuple(
                replace(extremes[e], atoms=local[extremes[e].atoms])
                for e in rows[rows >= len(totals)] - len(totals)
            ),
            whole,
        )


def _links(extremes: tuple[KnownExtreme, ...], columns: int) -> Any:
    from scipy import sparse

    starts = np.concatenate([[0], np.cumsum([len(e.atoms) for e in extremes])]).astype(np.int64)
    inside = np.concatenate([*(e.atoms for e in extremes), np.zeros(0, dtype=np.int64)])
    return sparse.csr_array(
        (np.ones(len(inside), dtype=np.int64), inside, starts), shape=(len(extremes), columns)
    )


# The record of bounds: what answers leave possible for one person of each atom.

Method = Literal["prior domain", "propagation", "shortest paths", "linear programs", "whole-number programs"]


@dataclass(frozen=True, eq=False)
class PersonBounds:
    """Bounds for each atom, in whole steps above the domain's least value, inclusive.

    Nothing outside the bounds is possible. Medians and variances are left out: they could only narrow the bounds.
    """

    low: NDArray[np.int64]
    """The least value that one person of the atom can have; always one of the domain's values."""
    high: NDArray[np.int64]
    sum_low: NDArray[np.int64] = field(repr=False)
    """A lower bound of the sum over the atom's people. Only as tight as ``low`` needs it: it may be an outer bound even
    where ``exact`` is True."""
    sum_high: NDArray[np.int64] = field(repr=False)
    exact: NDArray[np.bool_]
    """Whether, if the answers do not contradict each other, some database that fits them gives a person ``low``, and
    some database ``high``. False: the bounds are outer ones, and the true ones may be narrower."""
    method: tuple[Method, ...] = field(repr=False)
    """What found the bounds of each atom. "linear programs": a solution in real numbers attains them, or a program
    proved them, in large systems one with the nearest sums only. "propagation" is exact for sums that form no cycle;
    elsewhere the work allowed for programs ended before this atom."""


# Differences of two known sums: bounds that propagation from single sums does not see.
#
# For query sets A and B, ``Σ over A∖B − Σ over B∖A`` is known. Where A and B differ in few people, it narrows
# bounds.

_MOST_DIFFERENCE_ROUNDS = 5
# Pairs that can narrow something are few, unless values crowd at one end of the domain; the sharpest ones are used.
_MOST_PAIRS = 20_000


def difference_bounds(
    matrix: Any, totals: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bounds of each unknown of ``matrix @ s = totals`` from all pairs of rows, until nothing changes.

    >>> from scipy import sparse
    >>> nested = sparse.csr_array([[1, 1, 1, 0], [0, 1, 1, 1]])
    >>> low, high = difference_bounds(nested, np.array([12, 3]), np.zeros(4, int), np.full(4, 10))
    >>> low.tolist(), high.tolist()
    ([9, 0, 0, 0], [10, 10, 10, 1])
    """
    inside = matrix.toarray().astype(bool)
    for _ in range(_MOST_DIFFERENCE_ROUNDS):
        spare = spare_of_pairs(matrix, totals, low, high)
        if np.any(spare > 0):
            raise contradiction()
        first, second = np.nonzero(spare > -np.max(high - low, initial=0))
        sharpest = np.argsort(-spare[first, second], kind="stable")[:_MOST_PAIRS]
        new_low, new_high = low.copy(), high.copy()
        for a, b in zip(first[sharpest].tolist(), second[sharpest].tolist(), strict=True):
            only_a = np.flatnonzero(inside[a] & ~inside[b])
            only_b = np.flatnonzero(inside[b] & ~inside[a])
            new_low[only_a] = np.maximum(new_low[only_a], high[only_a] + spare[a, b])
            new_high[only_b] = np.minimum(new_high[only_b], low[only_b] - spare[a, b])
        if np.any(new_low > new_high):
            raise contradiction()
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
    return low, high


def spare_of_pairs(
    matrix: Any, totals: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For rows A and B: their known difference, less the most of A∖B, plus the least of B∖A.

    Above 0, the two rows contradict each other. If it is 0 or less for (A, B) and (B, A), and each row alone is
    possible, some whole numbers within the bounds fit both.
    """
    most, least = _common_sums(matrix, high), _common_sums(matrix, low)
    spare = (totals - np.diag(most))[:, None] - (totals - np.diag(least))[None, :] + most - least
    np.fill_diagonal(spare, np.iinfo(np.int64).min // 2)
    return np.asarray(spare)


def _common_sums(matrix: Any, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of ``numbers`` over the unknowns that two rows share, for every pair of rows."""
    weighted = matrix.copy()
    weighted.data = numbers[matrix.indices]
    return np.asarray((weighted @ matrix.T).toarray())
