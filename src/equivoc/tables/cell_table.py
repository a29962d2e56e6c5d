"""A table of cells: totals or counts by some keys, with subtotals and margins, and how they add up."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.dimension import Dimension

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
    """How many contributors each cell has (holdings, if contributors are grouped); 0: an empty cell."""
    top: Floats = field(repr=False)
    """Cells × t: the largest contributions, descending in absolute value; 0 where there are fewer contributors."""
    contributions: Floats = field(repr=False)
    """The unweighted sum of absolute contributions of each cell: the T of the rules. Counts: the number of people."""
    waived: NDArray[np.bool_] = field(repr=False)
    """True where the largest contributor agreed to be published."""
    source: Any = field(default=None, repr=False)
    """The Microdata that the table was made from; None for a table from elsewhere."""

    @property
    def by(self) -> tuple[str, ...]:
        """The keys' names."""
        return tuple(dimension.name for dimension in self.dimensions)

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
        return np.array(list(np.ndindex(*self.shape)), dtype=np.int64).reshape(
            len(self), len(self.dimensions)
        )

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
        strides = np.array([int(np.prod(self.shape[at + 1 :])) for at in range(len(self.shape))])
        for at, dimension in enumerate(self.dimensions):
            others = [range(len(d)) if i != at else (0,) for i, d in enumerate(self.dimensions)]
            bases = np.array(list(product(*others)), dtype=np.int64) @ strides
            for node, children in enumerate(dimension.children):
                if not len(children):
                    continue
                for base in bases:
                    parts = base + children * strides[at]
                    columns.append(np.append(parts, base + node * strides[at]))
                    signs.append(np.append(np.ones(len(parts)), -1.0))
                    rows.append(np.full(len(parts) + 1, count))
                    count += 1
        shape = (count, len(self))
        if not count:
            return sparse.csr_array(shape)
        entries = (np.concatenate(signs), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_array(sparse.coo_array(entries, shape=shape))
