"""One key of a table: its categories, subtotals and margin, as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Hierarchy, Intervals, Ladder
from equivoc.attributes.level_text import written
from equivoc.errors import InputError


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

Integers = NDArray[np.int64]


def dimension_of(
    name: str, levels: Sequence[Any], hierarchy: Hierarchy | Intervals | None = None
) -> tuple[Dimension, Integers]:
    """The dimension of these categories (None: missing), and the node of each.

    Groups of the hierarchy become subtotals; one that contains a single category of the same label is left out.

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
