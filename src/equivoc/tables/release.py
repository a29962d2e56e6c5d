"""A released table: the values that are published, the cells that are not, and what an intruder can compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.level_text import written
from equivoc.tables.attacker import cell_intervals, has_negatives
from equivoc.tables.cell_posteriors import (
    ContributorIntervals,
    Figures,
    PersonPosteriors,
    figures_between,
    figures_on_steps,
    largest_contributor,
    person_posteriors,
)
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.rules import as_rules, protection_levels

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
# Bounds from linear programs may miss a whole number by this much.
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class TableRelease:
    """The published values of a table's cells, NaN where a cell is withheld.

    >>> from equivoc.tables.cell_table import Dimension
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

    @property
    def exposed(self) -> str:
        """Which unsafe cells somebody can compute exactly although they are withheld, in a sentence; "" if none."""
        return ""

    @property
    def insider_bounds(self) -> tuple[Floats, Floats]:
        """The bounds for whoever knows most: cells that a contributor can compute exactly have one value."""
        return self.bounds

    def figures(self, *, eps: float = 0.0) -> Figures:
        """The measure of every cell's own value, uniform on what ``insider_bounds`` leave: whole numbers for counts,
        even steps for totals; ``hit`` for windows of length ``eps``.
        """
        low, high = self.insider_bounds
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
        return largest_contributor(
            self.cells, *(self.insider_bounds if insider else self.bounds), insider=insider
        )


# Cells as frames of the caller's kind: their categories, values, contributors, and why they are unsafe.

Integers = NDArray[np.int64]


def cell_frame(table: CellTable, cells: Integers, columns: Mapping[str, Any]) -> Any:
    """The chosen cells with their categories (null: the margin), followed by these columns, one entry per cell.

    The frame is of the kind that the people came in; pandas for a table from elsewhere.
    """
    import pyarrow as pa

    nodes = table.nodes[cells]
    arrays: dict[str, Any] = {
        dimension.name: node_labels(dimension).take(pa.array(nodes[:, at]))
        for at, dimension in enumerate(table.dimensions)
    }
    arrays |= {name: _column(values) for name, values in columns.items()}
    if table.source is not None:
        return table.source.like(arrays)
    frame = pa.table(arrays)
    return frame.to_pandas(integer_object_nulls=True)


def table_frame(table: CellTable, withheld: NDArray[np.bool_] | None = None) -> Any:
    """Every cell: its value, number of contributors, and largest two contributions.

    With ``withheld``, the values of these cells are null, and no contribution is in the frame.
    """
    largest = [
        np.where(table.people > at, table.top[:, at], np.nan) if table.top.shape[1] > at else _unknown(table)
        for at in range(2)
    ]
    people = np.where(table.people < 0, np.nan, table.people) if (table.people < 0).any() else table.people
    cells = np.arange(len(table))
    if withheld is not None:
        return cell_frame(table, cells, {"value": np.where(withheld, np.nan, table.values), "people": people})
    return cell_frame(
        table,
        cells,
        {"value": table.values, "people": people, "largest": largest[0], "second": largest[1]},
    )


def unsafe_frame(table: CellTable, rule: Any, *, contributions: bool = True) -> Any:
    """The unsafe cells: value, number of contributors, the rules that they violate, and the protection they need.

    Without ``contributions``, value and protection are left out: from either of them a contribution can be computed.
    """
    rules = as_rules(rule)
    found = np.array([each.unsafe(table) for each in rules])
    cells = np.flatnonzero(found.any(axis=0))
    patterns, pattern_of = np.unique(found[:, cells], axis=1, return_inverse=True)
    texts = ["; ".join(np.array([each.text for each in rules])[by]) for by in patterns.T]
    why = np.array(texts, dtype=object)[pattern_of.ravel()]
    columns = {"people": table.people[cells], "why": why}
    if contributions:
        protection = protection_levels(table, rules)[cells]
        columns = {"value": table.values[cells], **columns, "protection": protection}
    return cell_frame(table, cells, columns)


def node_labels(dimension: Dimension) -> pa.Array:
    """The label of each node, null for the margin; as text if subtotals are text and categories are not."""
    import pyarrow as pa

    kinds = {type(label) for label in dimension.labels[1:]}
    mixed = len(kinds) > 1
    return pa.array([written(label) for label in dimension.labels] if mixed else list(dimension.labels))


def _column(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string()) if values.dtype == object else pa.array(values, from_pandas=True)


def _unknown(table: CellTable) -> NDArray[np.float64]:
    return np.full(len(table), np.nan)
