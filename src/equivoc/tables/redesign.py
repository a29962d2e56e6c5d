"""Redesign: merge a table's categories up their hierarchies, as little as possible, until no cell is unsafe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import check_choice
from equivoc.attributes.hierarchy import Hierarchy, Intervals
from equivoc.data.hierarchies import Hierarchies
from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.number_format import exact
from equivoc.tables.attacker.equations import cell_name, has_negatives
from equivoc.tables.cell_table import CellTable
from equivoc.tables.levels import KeyLevels, at_levels, every_level, given_levels, own_levels
from equivoc.tables.release import TableRelease
from equivoc.tables.rules import as_rules, unsafe_cells

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


def _rules_by_key(hierarchies: Any, table: CellTable) -> dict[str, Hierarchy | Intervals]:
    if hierarchies is None:
        return {}
    if isinstance(hierarchies, Mapping):
        hierarchies = {
            key: Hierarchy.of(given, key=key)
            if isinstance(given, Mapping) or hasattr(given, "columns")
            else given
            for key, given in hierarchies.items()
        }
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
