"""Redesign: merge a table's categories up their hierarchies, as little as possible, until no cell is unsafe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Rule
from equivoc.checks import check_choice
from equivoc.data.hierarchies import Hierarchies
from equivoc.errors import InputError, did_you_mean
from equivoc.tables.attacker import cell_name, has_negatives
from equivoc.tables.cell_table import MISSING, CellTable, Dimension
from equivoc.tables.contributions import rolled_up
from equivoc.tables.release import TableRelease
from equivoc.tables.rules import as_rules, unsafe_cells
from equivoc.text import exact

# The levels at which a key of a table can be shown, and the table at such levels.

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


def given_levels(dimension: Dimension, hierarchy: Rule) -> KeyLevels:
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
        table.counted,
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
        wide.counted,
        None if wide.sole is None else wide.sole.of(cells),
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


Floats = NDArray[np.float64]

LOSSES = ("entropy", "cells")


@dataclass(frozen=True)
class Redesign:
    """Publish a coarser table in which no cell is unsafe by ``rule`` (one or several).

    Each key is shown at one level of its hierarchy, the same for all its categories; the last level drops the key.
    ``hierarchies`` gives them by key, as in `equivoc.tabulate`; other keys stay as they are. Without it, keys go up the
    subtotals that the table has. Of all combinations of levels without an unsafe cell, margins included, the one of
    least loss is chosen (search by loss, best first); if losses are equal, the one that goes up fewer levels, then less
    in the first keys.

    ``loss="entropy"``: the bits that the table no longer says about the cell of a contributor, on average:
    Σ n/N · log2(n'/n), n contributors in an original inner cell, n' in the released one that contains it, N in all.
    ``loss="cells"``: the number of inner cells that are gone.

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.tables.rules import Threshold
    >>> from equivoc.tables.tabulate import tabulate
    >>> frame = pd.DataFrame({"town": ["Kiel"] * 4 + ["Husum"] * 1 + ["Ulm"] * 3, "pay": range(8)})
    >>> table = tabulate(Microdata(frame, confidential="pay", keys=["town"]), ["town"], "pay")
    >>> north = {"town": {"Kiel": "north", "Husum": "north", "Ulm": "south"}}
    >>> release = Redesign(rule=Threshold(3), hierarchies=north).release(table)
    >>> release.table["town"].tolist()[1:], release.values.tolist(), release.levels
    (['north', 'south'], [28.0, 10.0, 18.0], {'town': 1})
    """

    rule: Any
    hierarchies: Any = None
    loss: str = "entropy"

    def __post_init__(self) -> None:
        as_rules(self.rule)
        check_choice("redesign: loss", self.loss, LOSSES)

    def release(self, table: CellTable) -> RedesignedTable:
        """The coarser table of least loss; InputError if even the coarsest has an unsafe cell."""
        if not isinstance(table, CellTable):
            raise InputError(f"table is a {type(table).__name__}; make one with eq.tabulate(people, by=[…]).")
        rules = _rules_by_key(self.hierarchies, table)
        keys = tuple(
            given_levels(dimension, rules[dimension.name])
            if dimension.name in rules
            else own_levels(dimension, fixed=self.hierarchies is not None)
            for dimension in table.dimensions
        )
        wide = every_level(table, keys)
        unsafe = unsafe_cells(wide, self.rule).reshape(wide.shape)
        weights = _weights(table, self.loss)
        levels = _least_loss(keys, unsafe, weights)
        if levels is None:
            _refuse(wide, keys, unsafe)
        coarse = at_levels(wide, keys, levels)
        chosen = {key.name: level for key, level in zip(keys, levels, strict=True)}
        lost = _loss(keys, levels, weights)
        up = ", ".join(f"{name} to level {level}" for name, level in chosen.items() if level)
        unit = "bits of a contributor's cell" if self.loss == "entropy" else "inner cells"
        return RedesignedTable(
            coarse,
            coarse.values.copy(),
            table,
            chosen,
            lost,
            keys,
            levels,
            notes=(f"Categories were merged: {up}; lost: {exact(round(lost, 6))} {unit}.",) if up else (),
            mechanism="She sees the totals of the merged categories as they are.",
        )


@dataclass(frozen=True, eq=False)
class RedesignedTable(TableRelease):
    """A coarser table, published as it is: ``bounds`` are its values, `original_bounds` those of the original cells."""

    original: CellTable = field(repr=False)
    levels: Mapping[str, int]
    """The level of each key; 0: its categories are unchanged."""
    loss: float
    _keys: tuple[KeyLevels, ...] = field(repr=False)
    _at: tuple[int, ...] = field(repr=False)

    def original_bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of each cell of the original table that the coarser one allows.

        A released cell adds all of its total to an original cell that contains it, and anything up to it to one
        that shares some of its categories (without limit, if contributions can be negative).
        """
        inside, touching = self._spread(within=True), self._spread(within=False)
        if not has_negatives(self.original):
            return inside, touching
        partly = self._spread(within=False, of=np.ones(len(self.cells))) > self._spread(
            within=True, of=np.ones(len(self.cells))
        )
        return np.where(partly, -np.inf, inside), np.where(partly, np.inf, touching)

    @property
    def merged_into(self) -> NDArray[np.int64]:
        """For each inner cell of the original table, the released inner cell that contains it."""
        nodes = [
            shown.leaves[key.groups[level]]
            for key, level, shown in zip(self._keys, self._at, self.cells.dimensions, strict=True)
        ]
        released: NDArray[np.int64] = np.arange(len(self.cells)).reshape(self.cells.shape)[np.ix_(*nodes)]
        return released.ravel()

    def _spread(self, *, within: bool, of: Floats | None = None) -> Floats:
        """Of each original cell, the sum of the released inner cells that lie in it, or that share categories."""
        found = (self.values if of is None else of).reshape(self.cells.shape)
        for axis, (key, level, dimension, shown) in enumerate(
            zip(self._keys, self._at, self.original.dimensions, self.cells.dimensions, strict=True)
        ):
            belongs = np.array([[node in path for path in dimension.path] for node in range(len(dimension))])[
                :, dimension.leaves
            ]
            group = key.groups[level]
            shared = np.array([belongs[:, group == at].sum(axis=1) for at in range(group.max() + 1)]).T
            sizes = np.bincount(group)
            chosen = shared == sizes if within else shared > 0
            leaves = np.moveaxis(np.take(found, shown.leaves, axis=axis), axis, 0)
            found = np.moveaxis(np.tensordot(chosen.astype(np.float64), leaves, axes=1), 0, axis)
        return np.asarray(found.ravel())


def _rules_by_key(hierarchies: Any, table: CellTable) -> dict[str, Rule]:
    if hierarchies is None:
        return {}
    given = Hierarchies.of(hierarchies)
    rules = dict(given.by_key)
    strangers = [key for key in rules if key not in table.by]
    if strangers and (not given.folder or len(strangers) == len(rules)):
        raise InputError(
            f"redesign: there is a hierarchy for {strangers[0]!r}, which is not a key of the table"
            f"{did_you_mean(strangers[0], table.by)}"
        )
    return rules


def _weights(table: CellTable, loss: str) -> Floats | None:
    """The contributors of each inner cell, as an array over the keys' leaves; None: cells are counted."""
    if loss == "cells":
        return None
    if (table.people < 0).any():
        raise InputError(
            'redesign: the table does not say how many contributors its cells have; choose loss="cells", or add a '
            "column people."
        )
    return table.people.reshape(table.shape)[np.ix_(*(d.leaves for d in table.dimensions))].astype(np.float64)


def _loss(keys: tuple[KeyLevels, ...], levels: tuple[int, ...], weights: Floats | None) -> float:
    if weights is None:
        sizes = [
            [int(key.groups[at].max()) + 1 for at in (0, level)]
            for key, level in zip(keys, levels, strict=True)
        ]
        before, after = np.prod(np.array(sizes, dtype=np.float64), axis=0)
        return float(before - after)
    merged = weights
    for axis, (key, level) in enumerate(zip(keys, levels, strict=True)):
        group = key.groups[level]
        into = (np.arange(group.max() + 1)[:, np.newaxis] == group).astype(np.float64)
        merged = np.moveaxis(np.tensordot(into, np.moveaxis(merged, axis, 0), axes=1), 0, axis)
    total = float(weights.sum())
    return (_sum_of_logs(merged) - _sum_of_logs(weights)) / total if total else 0.0


def _sum_of_logs(counts: Floats) -> float:
    """Σ n·log2 n: the loss is the difference of two of them, as Σ n·log2(n'/n) = Σ n'·log2 n' − Σ n·log2 n."""
    positive = counts[counts > 0]
    return float(np.sum(positive * np.log2(positive)))


def _least_loss(
    keys: tuple[KeyLevels, ...], unsafe: NDArray[np.bool_], weights: Floats | None
) -> tuple[int, ...] | None:
    """The levels of least loss without an unsafe cell. A level more never loses less, so the first one found is it."""
    start = (0,) * len(keys)
    waiting = [(0.0, 0, start)]
    seen = {start}
    while waiting:
        _, _, levels = heappop(waiting)
        shown = np.ix_(*(key.shown[level] for key, level in zip(keys, levels, strict=True)))
        if not unsafe[shown].any():
            return levels
        for at, key in enumerate(keys):
            higher = (*levels[:at], levels[at] + 1, *levels[at + 1 :])
            if higher[at] < len(key.groups) and higher not in seen:
                seen.add(higher)
                # Losses that differ only by rounding count as equal.
                heappush(waiting, (round(_loss(keys, higher, weights), 9), sum(higher), higher))
    return None


def _refuse(wide: CellTable, keys: tuple[KeyLevels, ...], unsafe: NDArray[np.bool_]) -> NoReturn:
    last = np.ix_(*(key.shown[-1] for key in keys))
    cells = np.arange(len(wide)).reshape(wide.shape)[last]
    cell = int(cells[unsafe[last]].flat[0])
    raise InputError(
        f"redesign: the cell {cell_name(wide, cell)} is unsafe even with every hierarchy at its last level; give "
        "hierarchies for more keys, or suppress cells."
    )
