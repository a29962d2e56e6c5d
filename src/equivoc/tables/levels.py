"""The levels at which a key of a table can be shown, and the table at such levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Hierarchy, Intervals
from equivoc.errors import InputError
from equivoc.tables.category_trees import MISSING
from equivoc.tables.cell_table import CellTable
from equivoc.tables.contributions import rolled_up
from equivoc.tables.dimension import Dimension

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KeyLevels:
    """A key with all groups of its hierarchy as nodes; level 0 shows the categories, the last level only the margin."""

    name: str
    tree: Dimension
    groups: tuple[Integers, ...] = field(repr=False)
    """At each level, the group of every leaf, numbered from 0 in the order of ``leaves``."""
    shown: tuple[Integers, ...] = field(repr=False)
    """At each level, the nodes that the table shows, ascending: the groups, the subtotals above them, the margin."""
    own: bool
    """True if the tree is the table's own."""


def own_levels(dimension: Dimension, *, fixed: bool) -> KeyLevels:
    """Levels from the key's own subtotals: at level l, nodes deeper than the deepest minus l are merged.

    ``fixed``, or without subtotals: only level 0.
    """
    depth = np.array([len(path) - 1 for path in dimension.path])
    deepest = int(depth.max())
    levels = 1 if fixed or deepest < 2 else deepest + 1
    groups, shown = [], []
    for level in range(levels):
        cut = deepest - level
        at_cut = [dimension.path[leaf][max(int(depth[leaf]) - cut, 0)] for leaf in dimension.leaves]
        groups.append(np.unique(at_cut, return_inverse=True)[1].astype(np.int64))
        shown.append(np.flatnonzero(depth <= cut))
    return KeyLevels(dimension.name, dimension, tuple(groups), tuple(shown), own=True)


def given_levels(dimension: Dimension, hierarchy: Hierarchy | Intervals) -> KeyLevels:
    """Levels from a hierarchy of the key's categories; each shows its groups under the margin, without subtotals."""
    leaves = [dimension.labels[int(leaf)] for leaf in dimension.leaves]
    ladder = hierarchy.ladder(dimension.name, [None if label == MISSING else label for label in leaves])
    labels: list[Any] = [None]
    parents = [-1]
    groups, shown = [np.zeros(len(leaves), dtype=np.int64)], [np.array([0])]
    above = np.zeros(len(leaves), dtype=np.int64)  # the node of each leaf's group at the level above
    for step in range(ladder.top - 1, -1, -1):
        group = ladder.groups[step]
        first = np.unique(group, return_index=True)[1]
        nodes = len(labels) + np.arange(len(first))
        names = (
            [leaves[int(at)] for at in first]
            if step == 0
            else [ladder.labels[step][g] for g in range(len(first))]
        )
        labels += [MISSING if name is None else name for name in names]
        parents += above[first].tolist()
        groups.insert(0, group)
        shown.insert(0, np.append(0, nodes))
        above = nodes[group]
    tree = Dimension(dimension.name, tuple(labels), np.array(parents, dtype=np.int64))
    return KeyLevels(dimension.name, tree, tuple(groups), tuple(shown), own=False)


def every_level(table: CellTable, keys: Sequence[KeyLevels]) -> CellTable:
    """The table with a node for every group of every level, from its inner cells."""
    if all(key.own for key in keys):
        return table
    if (table.people >= 0).all() and np.any(table.relations @ table.people != 0):
        raise InputError(
            "redesign: some contributors (holdings) are in several cells, so those of merged cells cannot be counted; "
            "tabulate with hierarchies=… and leave hierarchies out of the redesign."
        )
    trees = tuple(key.tree for key in keys)
    from_leaves = np.ix_(*(d.leaves for d in table.dimensions))
    to_leaves = np.ix_(*(tree.leaves for tree in trees))
    shape = tuple(map(len, trees))

    def over_all(of: NDArray[Any], merged: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
        given = of.reshape(*table.shape, *of.shape[1:])
        wide = np.zeros((*shape, *of.shape[1:]), dtype=of.dtype)
        wide[to_leaves] = given[from_leaves]
        return rolled_up(wide, trees, merged).reshape(-1, *of.shape[1:])

    kept = table.top.shape[1]
    people = over_all(table.people, _count)
    asked = over_all((table.people != 0) & ~table.waived, lambda parts: np.asarray(parts.any(axis=0)))
    return CellTable(
        trees,
        table.value,
        over_all(table.values, lambda parts: parts.sum(axis=0)),
        people,
        over_all(table.top, lambda parts: _largest(parts, kept)),
        over_all(table.contributions, lambda parts: parts.sum(axis=0)),
        (people != 0) & ~asked,
        table.source,
        None if table.unwaived is None else over_all(table.unwaived, lambda parts: parts.max(axis=0)),
    )


def at_levels(wide: CellTable, keys: Sequence[KeyLevels], levels: Sequence[int]) -> CellTable:
    """The table that shows each key at its level."""
    nodes = [key.shown[level] for key, level in zip(keys, levels, strict=True)]
    cells = np.arange(len(wide)).reshape(wide.shape)[np.ix_(*nodes)].ravel()
    dimensions = []
    for key, chosen in zip(keys, nodes, strict=True):
        labels = tuple(key.tree.labels[int(node)] for node in chosen)
        if key.own:
            parents = np.where(chosen == 0, -1, np.searchsorted(chosen, key.tree.parents[chosen]))
            dimensions.append(Dimension(key.name, labels, parents.astype(np.int64)))
        else:
            dimensions.append(Dimension.flat(key.name, labels[1:]))
    return CellTable(
        tuple(dimensions),
        wide.value,
        wide.values[cells],
        wide.people[cells],
        wide.top[cells],
        wide.contributions[cells],
        wide.waived[cells],
        wide.source,
        None if wide.unwaived is None else wide.unwaived[cells],
    )


def _count(parts: NDArray[Any]) -> NDArray[Any]:
    """People of all parts; −1 (not known) if one of them is not known."""
    return np.where((parts < 0).any(axis=0), -1, parts.sum(axis=0))


def _largest(parts: NDArray[Any], keep: int) -> NDArray[Any]:
    """The largest of all parts' largest contributions, by absolute size: contributors are in one part only."""
    beside = np.moveaxis(parts, 0, -2)
    flat = beside.reshape(*beside.shape[:-2], -1)
    order = np.argsort(-np.abs(flat), axis=-1, kind="stable")[..., :keep]
    return np.asarray(np.take_along_axis(flat, order, axis=-1))
