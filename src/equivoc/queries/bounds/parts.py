"""Parts of a system that share no sum and no open extreme, and the whole-number solutions seen of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.answers.system import AnswerSystem, KnownExtreme
from equivoc.queries.bounds.ranges import AtomRanges, attaining, has_gaps, unsettled
from equivoc.queries.sum_systems import SumSystem, components

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
