"""A table of cells: totals or counts by some keys, with subtotals and margins, and how they add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Ladder, Rule
from equivoc.attributes.level_text import written
from equivoc.errors import InputError
from equivoc.tables.contributions import SoleContributors

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dimension:
    """The categories of a key under their subtotals. Node 0 is the margin (all categories); a parent comes before its
    children; the leaves are the categories of the data.

    >>> sex = Dimension.flat("sex", ["F", "M"])
    >>> sex.labels, sex.parents.tolist(), sex.leaves.tolist()
    ((None, 'F', 'M'), [-1, 0, 0], [1, 2])
    """

    name: str
    labels: tuple[Any, ...]
    """The label of each node; None for the margin."""
    parents: NDArray[np.int64] = field(repr=False)
    """The parent of each node; −1 for the margin."""

    @classmethod
    def flat(cls, name: str, categories: Sequence[Any]) -> Dimension:
        """Without subtotals: every category directly under the margin."""
        parents = np.zeros(len(categories) + 1, dtype=np.int64)
        parents[0] = -1
        return cls(name, (None, *categories), parents)

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.labels)

    @cached_property
    def children(self) -> tuple[NDArray[np.int64], ...]:
        """The children of each node, ascending."""
        order = np.argsort(self.parents, kind="stable")
        starts = np.searchsorted(self.parents[order], np.arange(len(self) + 1))
        return tuple(order[starts[node] : starts[node + 1]] for node in range(len(self)))

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """The nodes without children, ascending."""
        return np.setdiff1d(np.arange(len(self), dtype=np.int64), self.parents)

    @cached_property
    def path(self) -> tuple[tuple[int, ...], ...]:
        """Each node with its ancestors, from itself to the margin."""
        found: list[tuple[int, ...]] = []
        for node in range(len(self)):
            parent = int(self.parents[node])
            found.append((node, *found[parent]) if parent >= 0 else (node,))
        return tuple(found)


# The dimension of a key: its categories, with the subtotals of a hierarchy if there is one.

MISSING = "(missing)"
"""The label of the people without a value of the key: null is the margin."""


def dimension_of(
    name: str, levels: Sequence[Any], hierarchy: Rule | None = None
) -> tuple[Dimension, Integers]:
    """The dimension of these categories (None: missing), and the node of each.

    Groups of the hierarchy become subtotals; one that contains a single category of the same label is left out.

    >>> from equivoc.attributes.hierarchy import Hierarchy
    >>> north = Hierarchy.of({"Kiel": ["north"], "Husum": ["north"], "Ulm": ["south"]}, key="town")
    >>> town, nodes = dimension_of("town", ["Husum", "Kiel", "Ulm"], north)
    >>> town.labels, town.parents.tolist(), nodes.tolist()
    ((None, 'north', 'Husum', 'Kiel', 'south', 'Ulm'), [-1, 0, 1, 1, 0, 4], [2, 3, 5])
    """
    categories = [MISSING if level is None else level for level in levels]
    if hierarchy is None:
        _check_labels(name, categories, levels, subtotals=0)
        return Dimension.flat(name, categories), np.arange(1, len(levels) + 1)
    ladder = hierarchy.ladder(name, levels)
    labels: list[Any] = [None]
    parents, subtotals = [-1], 0
    node_of_category = np.empty(len(levels), dtype=np.int64)

    def add(step: int, members: Integers, parent: int) -> None:
        """The nodes of the groups of ``members`` at this step, each followed by what lies below it."""
        nonlocal subtotals
        groups = ladder.groups[step][members]
        for group in dict.fromkeys(groups.tolist()):
            inside = members[groups == group]
            if step and _repeats(ladder, step, inside):
                add(step - 1, inside, parent)
                continue
            node = len(labels)
            parents.append(parent)
            if step:
                subtotals += 1
                labels.append(ladder.labels[step][group])
                add(step - 1, inside, node)
            else:
                labels.append(categories[inside[0]])
                node_of_category[inside[0]] = node

    add(ladder.top - 1, np.arange(len(levels)), 0)
    _check_labels(name, labels[1:], levels, subtotals=subtotals)
    return Dimension(name, tuple(labels), np.array(parents, dtype=np.int64)), node_of_category


def _repeats(ladder: Ladder, step: int, members: Integers) -> bool:
    """True if the group of these members contains one group of the step below, and has its label."""
    above, below = ladder.groups[step][members[0]], np.unique(ladder.groups[step - 1][members])
    return below.size == 1 and ladder.labels[step][above] == ladder.labels[step - 1][below[0]]


def _check_labels(name: str, labels: Sequence[Any], levels: Sequence[Any], *, subtotals: int) -> None:
    """InputError if two nodes would look the same in a frame."""
    texts = [written(label) for label in labels]
    if len(set(texts)) == len(texts):
        return
    seen: set[str | None] = set()
    twice = next(text for text in texts if text in seen or seen.add(text))  # type: ignore[func-returns-value]
    if twice == MISSING and None in levels:
        raise InputError(
            f"the key {name!r} has missing values and also the category {MISSING!r}: rename the category."
        )
    if subtotals:
        raise InputError(
            f"the hierarchy of {name!r} has the label {twice!r} twice, for a category and a subtotal or for two "
            "subtotals: rename one, for example to 'all of …'."
        )
    raise InputError(f"the key {name!r} has two categories that are written {twice!r}: rename one.")


Floats = NDArray[np.float64]

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
    """Who is alone in a cell, if contributors may be in several; None: their cells tell them apart."""

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
