"""One key of a table: its categories, subtotals and margin, as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
