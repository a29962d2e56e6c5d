"""Differentially private counts: geometric noise on the inner cells of a frequency table, margins as their sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import check_choice, checked_whole_number
from equivoc.errors import InputError
from equivoc.measure.curves import curves
from equivoc.tables.attacker import cell_name
from equivoc.tables.cell_posteriors import Figures
from equivoc.tables.cell_table import CellTable
from equivoc.tables.contributions import summed_up
from equivoc.tables.release import TableRelease
from equivoc.techniques.geometric_noise import checked_epsilon, with_noise
from equivoc.techniques.technique import Randomness
from equivoc.text import exact

Floats = NDArray[np.float64]

# Counts less likely than this, compared with the likeliest, are left out of a posterior.
_NEGLIGIBLE = 1e-15
_TAIL = -np.log(_NEGLIGIBLE)


@dataclass(frozen=True)
class NoisyCells:
    """Publish a table of counts with two-sided geometric noise on every inner cell; margins are sums.

    Adding or removing a person changes one inner cell by 1, so with noise of scale 1/ε the table is ε-differentially
    private if its categories do not depend on who is in it (``levels="public"``). Margins follow from the inner cells,
    so they add up and cost nothing more; their noise grows with the number of their parts. Counts below 0 are published
    unchanged.

    Where people have weights, or contributors have several records (holdings), one of them changes the counts by more:
    ``most_per_contributor`` is then needed, and the scale is ``most_per_contributor``/ε. What is protected is one
    contributor, with all records.

    Without ``rng`` the noise is OpenDP's, and the table may be published; with a seed it is simulated, for measuring
    only.

    >>> from equivoc.tables.cell_table import Dimension
    >>> values = np.array([9.0, 2.0, 7.0])
    >>> table = CellTable((Dimension.flat("sex", ["F", "M"]),), None, values, values.astype(np.int64), np.ones((3, 1)),
    ...     values, np.zeros(3, dtype=bool))
    >>> release = NoisyCells(epsilon=1).release(table, 3)
    >>> release.values.tolist()
    [6.0, 1.0, 5.0]
    """

    epsilon: float
    """The privacy budget of one person, above 0. Less is safer."""
    levels: str = "data"
    """"public": the caller states that the categories do not depend on who is in the file."""
    most_per_contributor: int | None = None
    """The most that one contributor (a person, or a holding with all its records) may add to all inner cells together,
    weights included: a number that is known without the data. None: 1, for people without weights. More is noisier."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon("noisy cells", self.epsilon))
        if self.most_per_contributor is not None:
            checked_whole_number("noisy cells: most_per_contributor", self.most_per_contributor, at_least=1)
        check_choice("noisy cells: levels", self.levels, ("data", "public"))

    def release(self, table: CellTable, rng: Randomness = None) -> NoisyCellTable:
        """Draw the noise of every inner cell, empty ones included, and add up the margins."""
        inner = _checked_counts(table)
        most = self._sensitivity(table)
        scale = most / float(self.epsilon)
        noisy = with_noise(np.rint(table.values[inner]).astype(np.int64), scale=scale, rng=rng)
        values = summed_up(noisy.astype(np.float64), inner, table.dimensions)
        in_words = "1/ε" if most == 1 else f"{most:,}/ε"
        return NoisyCellTable(
            table,
            values,
            float(self.epsilon),
            most,
            notes=self._notes(table, most),
            mechanism=(
                f"She knows that every inner cell has two-sided geometric noise of scale {in_words}, with ε = "
                f"{exact(self.epsilon)}, and that margins are sums of noisy cells. Two tables are neighbours, for the "
                f"privacy budget, if {_contributor(table)} is added or removed, who changes "
                f"{'one count by 1' if most == 1 else f'the counts by at most {most:,} together'}. She takes all "
                "counts of 0 or more as equally likely before."
            ),
        )

    def _sensitivity(self, table: CellTable) -> int:
        """The most that one contributor may change the inner cells together; InputError if it is not stated, or wrong.

        The noise must not depend on the largest contributor of the file: neither the scale nor what is kept of the
        contributor may tell who is in it.
        """
        counted, most = table.counted, self.most_per_contributor
        who = _contributor(table)
        if counted is None:
            inner = table.inner
            several = bool(((table.people >= 0) & (table.people < table.values))[inner].any())
            if most is None and several:
                raise InputError(
                    "noisy cells: the table has fewer contributors than it counts, so one of them is counted several "
                    "times: say with most_per_contributor=… how often at most, a number that is known without the data."
                )
            return most or 1
        if not counted.whole:
            raise InputError(
                "noisy cells need whole counts, but the weights are not whole numbers: tabulate with weighted=False."
            )
        if most is None and (counted.contributor is not None or counted.weighted):
            why = "with its weight" if counted.weighted else "with several records"
            way = "" if not counted.weighted or counted.contributor else ", or tabulate with weighted=False"
            raise InputError(
                f"noisy cells: {who} may change the counts by more than 1, {why}: say with most_per_contributor=… by "
                f"how much at most, a number that is known without the data{way}."
            )
        if counted.most > (most or 1):
            raise InputError(
                f"noisy cells: most_per_contributor is {most}, but {who} of this table adds more than that to the "
                "counts: state a number that holds for everybody who could be in the file, not the largest of this "
                "file."
            )
        return most or 1

    def _notes(self, table: CellTable, most: int) -> tuple[str, ...]:
        notes = []
        if self.levels != "public":
            notes.append(
                "No differential privacy is promised: the categories were taken from the data. If they do not depend "
                'on who is in it, say so with levels="public".'
            )
        if self.most_per_contributor is not None:
            notes.append(
                f"The privacy budget protects {_contributor(table)}, on the word of the office that nobody can change "
                f"the counts by more than {most:,} together."
            )
        elif table.counted is None:
            notes.append(
                "The privacy budget protects one person if everybody is counted once: the table was not made from "
                "people here, so this was not checked."
            )
        return tuple(notes)


def _contributor(table: CellTable) -> str:
    """Whom the privacy budget protects, in words."""
    name = None if table.counted is None else table.counted.contributor
    return "one person" if name is None else f"one contributor (all records with the same {name})"


@dataclass(frozen=True, eq=False)
class NoisyCellTable(TableRelease):
    """Noisy counts, with an intruder who knows ε.

    For an inner cell P(count t | noisy count y) ∝ exp(−ε·|y − t| / m), t = 0, 1, …, with m the most that a contributor
    may change the counts; a margin's count is the sum of independent inner cells. ``bounds`` are the counts that are
    not negligible (1e-15 of the likeliest).
    """

    epsilon: float = field(default=1.0)
    """The privacy budget of one contributor."""
    most: int = 1
    """The most that one contributor may change the inner cells together."""

    @property
    def rate(self) -> float:
        """1 / the scale of the noise."""
        return self.epsilon / self.most

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest count of each cell that is not negligible; noise has no limit of its own."""
        every = [self.posterior(cell)[0] for cell in range(len(self.cells))]
        return np.array([values[0] for values in every]), np.array([values[-1] for values in every])

    def posterior(self, cell: int) -> tuple[Floats, Floats]:
        """The possible counts of a cell and their probabilities."""
        first, probabilities = self._distribution(cell)
        return first + np.arange(len(probabilities), dtype=np.float64), probabilities

    @cached_property
    def expected(self) -> Floats:
        """The mean of each cell's posterior."""
        inner = np.flatnonzero(self.cells.inner)
        means = {y: float(np.dot(*_count_posterior(y, self.rate))) for y in set(self.values[inner].tolist())}
        return summed_up(
            np.array([means[y] for y in self.values[inner].tolist()]), inner, self.cells.dimensions
        )

    def figures(self, *, eps: float = 0.0) -> Figures:
        """The measure of every cell's posterior; ``hit`` for windows of length ``eps``, in people."""
        every = [self._distribution(cell)[1] for cell in range(len(self.cells))]
        width = max(map(len, every))
        matrix = np.array([np.pad(row, (0, width - len(row))) for row in every])
        measured = curves(
            np.arange(width), matrix, tolerance=None
        )  # the measure does not depend on where values begin
        return Figures(measured.h0, measured.area, measured.eps_max, measured.hit(eps))

    def _distribution(self, cell: int) -> tuple[int, Floats]:
        """The least count of a cell and the probabilities from there on."""
        parts = self._parts[cell]
        return reduce(_sum_of, (self._inner_distribution(float(self.values[part])) for part in parts))

    def _inner_distribution(self, noisy: float) -> tuple[int, Floats]:
        known = self._known
        if noisy not in known:
            values, probabilities = _count_posterior(noisy, self.rate)
            known[noisy] = int(values[0]), probabilities
        return known[noisy]

    @cached_property
    def _known(self) -> dict[float, tuple[int, Floats]]:
        return {}

    @cached_property
    def _parts(self) -> list[NDArray[np.int64]]:
        """The inner cells of each cell."""
        leaves = [
            [[leaf for leaf in d.leaves.tolist() if node in d.path[leaf]] for node in range(len(d))]
            for d in self.cells.dimensions
        ]
        numbers = np.arange(len(self.cells)).reshape(self.cells.shape)
        return [
            numbers[np.ix_(*(leaves[axis][node] for axis, node in enumerate(nodes)))].ravel()
            for nodes in self.cells.nodes.tolist()
        ]


def _count_posterior(noisy: float, rate: float) -> tuple[Floats, Floats]:
    """The counts that are not negligible, given an inner cell's noisy count, and their probabilities."""
    reach = int(np.ceil(_TAIL / rate))
    centre = max(int(noisy), 0)  # a count below 0 says as much as 0
    counts = np.arange(max(centre - reach, 0), centre + reach + 1, dtype=np.float64)
    weights = np.exp(-rate * np.abs(counts - centre))
    return counts, weights / weights.sum()


def _sum_of(one: tuple[int, Floats], other: tuple[int, Floats]) -> tuple[int, Floats]:
    """The distribution of the sum of two independent counts, without its negligible ends."""
    both = np.convolve(one[1], other[1])
    kept = np.flatnonzero(both > _NEGLIGIBLE * both.max())
    part = both[kept[0] : kept[-1] + 1]
    return one[0] + other[0] + int(kept[0]), part / part.sum()


def _checked_counts(table: CellTable) -> NDArray[np.int64]:
    """The inner cells of a table of counts; InputError if it is another table."""
    if not isinstance(table, CellTable):
        raise InputError(f"table is a {type(table).__name__}; make one with eq.tabulate(people, by=[…]).")
    if table.value is not None:
        raise InputError(
            f"noisy cells are for tables of counts, and this one sums {table.value!r}: tabulate with value=None."
        )
    inner = np.flatnonzero(table.inner)
    wrong = inner[~(np.isfinite(table.values[inner]) & (table.values[inner] == np.rint(table.values[inner])))]
    if len(wrong):
        raise InputError(
            f"noisy cells need whole counts, but the cell {cell_name(table, int(wrong[0]))} is "
            f"{table.values[wrong[0]]:g}: tabulate with weighted=False."
        )
    return inner
