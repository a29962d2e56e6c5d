"""A released table: the values that are published, the cells that are not, and what an intruder can compute."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.attacker.equations import has_negatives
from equivoc.tables.attacker.intervals import cell_intervals
from equivoc.tables.cell_table import CellTable
from equivoc.tables.contributor_posterior import ContributorIntervals, largest_contributor
from equivoc.tables.interval_posteriors import Figures, figures_between, figures_on_steps
from equivoc.tables.person_posterior import PersonPosteriors, person_posteriors

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
# Bounds from linear programs may miss a whole number by this much.
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class TableRelease:
    """The published values of a table's cells, NaN where a cell is withheld.

    >>> from equivoc.tables.dimension import Dimension
    >>> values, people = np.array([9.0, 4.0, 5.0]), np.array([6, 3, 3])
    >>> table = CellTable((Dimension.flat("sex", ["F", "M"]),), "pay", values, people, np.ones((3, 2)), values,
    ...     np.zeros(3, dtype=bool))
    >>> release = TableRelease(table, np.array([9.0, np.nan, np.nan]))
    >>> release.bounds[0].tolist(), release.bounds[1].tolist()
    ([9.0, 0.0, 0.0], [9.0, 9.0, 9.0])
    """

    cells: CellTable
    """The cells that the values belong to, with what the office knows of them: the original table, or the coarser one
    of a redesign."""
    values: Floats = field(repr=False)
    """What is published of each cell, in the attribute's unit; NaN: withheld."""
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """Sentences that a reader of the release needs: limits reached, margins that do not add up."""
    mechanism: str = field(default="", kw_only=True)
    """What an intruder knows of how the release was made, in sentences."""

    @property
    def withheld(self) -> Booleans:
        """True for cells whose value is not published."""
        return np.isnan(self.values)

    @cached_property
    def table(self) -> Any:
        """The cells: categories (null: the margin) and value (null: withheld), a frame of the people's kind."""
        from equivoc.tables.frames import cell_frame

        return cell_frame(self.cells, np.arange(len(self.cells)), {"value": self.values})

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of each cell that agree with what is published, in the attribute's unit."""
        low, high, hidden = self.values.copy(), self.values.copy(), self.withheld
        if hidden.any():
            least = -np.inf if has_negatives(self.cells) else 0.0
            found = cell_intervals(replace(self.cells, values=self.values), hidden, lower=least)
            low[found.cells], high[found.cells] = found.low, found.high
        return low, high

    def figures(self, *, eps: float = 0.0) -> Figures:
        """The measure of every cell's own value, uniform on what its bounds leave: whole numbers for counts, even steps
        for totals; ``hit`` for windows of length ``eps``.
        """
        low, high = self.bounds
        if self.cells.value is not None or not np.isfinite(high - low).all():
            return figures_between(low, high, eps=eps)
        count = np.floor(high + _CLOSE).astype(np.int64) - np.ceil(low - _CLOSE).astype(np.int64) + 1
        return figures_on_steps(np.maximum(count, 0), np.ones(len(count)), eps=eps)

    @cached_property
    def expected(self) -> Floats:
        """What the intruder expects of each cell: here the middle of its bounds."""
        low, high = self.bounds
        return (low + high) / 2

    def people(self, key: str) -> PersonPosteriors:
        """Of a released table of counts: a person's category of ``key``, given her other keys."""
        return person_posteriors(self.cells, self.expected, key)

    def contributors(self, *, insider: bool = True) -> ContributorIntervals:
        """The interval of the largest contribution of each cell; ``insider``: to the second largest contributor."""
        return largest_contributor(self.cells, *self.bounds, insider=insider)
