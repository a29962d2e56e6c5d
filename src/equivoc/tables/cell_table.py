"""A table of cells: totals or counts by some keys, with subtotals and margins, and how they add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.contributions import SoleContributors
from equivoc.tables.dimension import Dimension

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

OWN_COLUMNS = (
    *("value", "people", "largest", "second", "why", "protection"),
    *("suppressed", "primary", "low", "high", "h0", "area", "hit"),
)
"""Columns of the frames of tables and their releases; a key cannot have such a name."""


@dataclass(frozen=True)
class Counted:
    """How a table of counts counts its contributors: what the sensitivity of its counts depends on."""

    contributor: str | None
    """The column whose value is shared by all records of one contributor; None: every record is a person."""
    most: float
    """The most that one contributor of this file adds to all inner cells together. It is confidential: noise is scaled
    by a number that is known without the data, and this one is compared with it."""
    weighted: bool = False
    """Whether records count by their survey weights."""
    whole: bool = True
    """Whether every record adds a whole number."""


@dataclass(frozen=True, eq=False)
class CellTable:
    """Every combination of the dimensions' nodes is a cell, in row-major order (the last dimension fastest).

    ``values`` are totals of the confidential attribute (weighted, if there are weights) or counts; ``top`` are the
    largest contributions of each cell's contributors, unweighted, largest first.
    """

    dimensions: tuple[Dimension, ...]
    value: str | None
    """The name of the attribute that is summed; None: the table counts people."""
    values: Floats = field(repr=False)
    """The total or the count of each cell, in the attribute's unit; NaN: not known (already suppressed)."""
    people: Integers = field(repr=False)
    """How many contributors each cell has (holdings, if contributors are grouped); 0: an empty cell; −1: not known."""
    top: Floats = field(repr=False)
    """Cells × t: the largest contributions, descending in absolute value; 0 where there are fewer contributors. No
    column (t = 0): not known."""
    contributions: Floats = field(repr=False)
    """The unweighted sum of absolute contributions of each cell: the T of the rules. Counts: the number of people."""
    waived: NDArray[np.bool_] = field(repr=False)
    """True where all contributors agreed to be published."""
    source: Any = field(default=None, repr=False)
    """The Microdata that the table was made from; None for a table from elsewhere."""
    unwaived: Floats | None = field(default=None, repr=False)
    """The largest absolute contribution of each cell among contributors who did not agree to be published: what the
    rules protect. None: nobody was asked, the largest of all."""
    counted: Counted | None = field(default=None, repr=False)
    """Of counts that were made from people; None for totals, and for a table from elsewhere."""
    sole: SoleContributors | None = field(default=None, repr=False)
    """Who is alone in a cell, if contributors may be in several; None: they are told by their cells."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about how its people were read, one sentence each: rows left out, words for missing values."""
        return () if self.source is None else tuple(remark.sentence for remark in self.source.remarks)

    @property
    def by(self) -> tuple[str, ...]:
        """The keys' names."""
        return tuple(dimension.name for dimension in self.dimensions)

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        by: Sequence[str],
        value: str = "value",
        hierarchies: Any = None,
        margins: Sequence[str] = ("", "Total", "*"),
        symbols: Sequence[str] = ("", "x", "*", "..", "c"),
        counts: bool = False,
        missing_margins: bool = False,
    ) -> CellTable:
        """A table from elsewhere, possibly with suppressed cells: a CSV or Parquet file, or a frame, with a row for
        each cell, margins included.

        One of ``margins`` in a column of ``by`` stands for all categories, one of ``symbols`` in the column ``value``
        for a suppressed cell. ``counts``: the values are numbers of people. ``hierarchies`` say which labels are
        subtotals. Columns named people, largest and second are the contributors of a cell and their two largest
        contributions; the rules then take the value for the sum of all contributions, so nobody may have contributed
        less than 0, and the table may not be weighted; rows that no contributors can have are an error. A margin or
        subtotal that is nowhere in the file is an error, unless ``missing_margins``: it is then computed where all its
        parts are published, and unknown elsewhere.
        """
        from equivoc.tables.from_file import read_cells

        found: CellTable = read_cells(
            source,
            by=by,
            value=value,
            hierarchies=hierarchies,
            margins=margins,
            symbols=symbols,
            counts=counts,
            missing_margins=missing_margins,
        )
        return found

    @property
    def frame(self) -> Any:
        """Every cell: its categories (null: the margin), value, people (contributors), and its largest and second
        largest contributions (null: there is none). A frame of the kind that the people came in.
        """
        from equivoc.tables.release import table_frame

        return table_frame(self)

    def unsafe(self, rule: Any) -> Any:
        """The cells that are unsafe by a rule, or by any of several: a frame with their categories, value, people, why
        (the rules that they violate) and protection (how far above the value an intruder's upper bound must lie, in
        the value's unit).
        """
        from equivoc.tables.release import unsafe_frame

        return unsafe_frame(self, rule)

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes of each dimension."""
        return tuple(len(dimension) for dimension in self.dimensions)

    def __len__(self) -> int:
        """How many cells there are, margins included."""
        return int(np.prod(self.shape))

    @cached_property
    def nodes(self) -> Integers:
        """Cells × dimensions: the node of each cell."""
        return np.column_stack(np.unravel_index(np.arange(len(self)), self.shape)).astype(np.int64)

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """True for cells without parts: a leaf in every dimension."""
        leaf = [np.isin(np.arange(len(d)), d.leaves) for d in self.dimensions]
        every = np.column_stack([leaf[at][self.nodes[:, at]] for at in range(len(leaf))])
        return np.asarray(every.all(axis=1))

    @cached_property
    def relations(self) -> Any:
        """How cells add up: a scipy CSR array, relations × cells, −1 for a total and 1 for each of its parts.

        There is one relation for each dimension and each cell that has parts in it: ``relations @ values = 0``.
        """
        from scipy import sparse

        rows, columns, signs, count = [], [], [], 0
        cells = np.arange(len(self)).reshape(self.shape)
        for at, dimension in enumerate(self.dimensions):
            by_node = np.moveaxis(cells, at, 0).reshape(len(dimension), -1)
            for node, children in enumerate(dimension.children):
                if not len(children):
                    continue
                members = by_node[np.append(children, node)].T
                columns.append(members.ravel())
                signs.append(np.tile(np.append(np.ones(len(children)), -1.0), len(members)))
                rows.append(count + np.repeat(np.arange(len(members)), members.shape[1]))
                count += len(members)
        shape = (count, len(self))
        if not count:
            return sparse.csr_array(shape)
        entries = (np.concatenate(signs), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_array(sparse.coo_array(entries, shape=shape))
