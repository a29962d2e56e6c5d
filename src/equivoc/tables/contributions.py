"""The contributors of every cell: how many, their largest contributions, and who agreed to be published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from equivoc.tables.cell_table import CellTable, Dimension

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the rules need to know of each cell; see the fields of the same name in `CellTable`."""

    people: Integers = field(repr=False)
    top: Floats = field(repr=False)
    contributions: Floats = field(repr=False)
    unwaived: Floats = field(repr=False)
    waived: Booleans = field(repr=False)
    """True for empty cells too, until all contributors are entered."""

    @classmethod
    def none(cls, size: int, *, keep: int) -> Contributions:
        """Of cells without contributors."""
        return cls(
            np.zeros(size, np.int64),
            np.zeros((size, keep)),
            np.zeros(size),
            np.zeros(size),
            np.ones(size, bool),
        )

    def enter(self, cells: Integers, entries: Entries, starts: Integers) -> None:
        """Add the contributors whose entries begin at ``starts``, each in the given cells (−1: in none)."""
        from equivoc.tables.contribution_kernels import enter_contributors

        enter_contributors(
            cells,
            entries.amounts,
            entries.agreed,
            starts,
            self.people,
            self.top,
            self.contributions,
            self.unwaived,
            self.waived,
        )


@dataclass(frozen=True, eq=False)
class Entries:
    """What people contribute to cells without parts."""

    cells: Integers = field(repr=False)
    amounts: Floats = field(repr=False)
    agreed: Booleans = field(repr=False)
    """True if the contributor agreed to be published."""

    def of(self, chosen: Any) -> Entries:
        """Some of the entries, or all in another order."""
        return Entries(self.cells[chosen], self.amounts[chosen], self.agreed[chosen])


def rolled_up(
    leaves: NDArray[Any],
    dimensions: Sequence[Dimension],
    merged: Callable[[NDArray[Any]], NDArray[Any]],
    *,
    only: Sequence[Integers] | None = None,
) -> NDArray[Any]:
    """Fill the subtotals and margins of an array over all nodes (further axes may follow) in which the cells without
    parts are filled. ``merged`` makes a total from its parts, along the first axis. ``only``: the nodes of each
    dimension that are to be filled, if the others are.
    """
    for axis, dimension in enumerate(dimensions):
        nodes = np.moveaxis(leaves, axis, 0)
        # Children have larger numbers than their parent, so they are complete before it.
        for node in sorted(range(len(dimension)) if only is None else only[axis].tolist(), reverse=True):
            children = dimension.children[node]
            if len(children):
                nodes[node] = merged(nodes[children])
    return leaves


def summed_up(amounts: Floats, cells: Integers, dimensions: Sequence[Dimension]) -> Floats:
    """The total of the amounts in every cell."""
    shape = tuple(map(len, dimensions))
    leaves = np.bincount(cells, amounts, minlength=int(np.prod(shape))).reshape(shape)
    return rolled_up(leaves, dimensions, _total).ravel()


def of_people(
    entries: Entries, dimensions: Sequence[Dimension], *, keep: int, times: Integers | None = None
) -> Contributions:
    """Each entry is another contributor, or as many as ``times`` says: totals are made from their parts."""
    shape = tuple(map(len, dimensions))
    found = Contributions.none(int(np.prod(shape)), keep=keep)
    if times is None:
        found.enter(entries.cells, entries, np.arange(entries.cells.size + 1))
    else:
        # More than ``keep`` equal contributions change nothing but their number and their sum.
        kept = entries.of(np.repeat(np.arange(times.size), np.minimum(times, keep)))
        found.enter(kept.cells, kept, np.arange(kept.cells.size + 1))
        np.copyto(found.people, _exact_counts(entries.cells, times, found.people.size))
        np.copyto(
            found.contributions,
            np.bincount(entries.cells, np.abs(entries.amounts) * times, minlength=found.people.size),
        )

    def largest(parts: NDArray[Any]) -> NDArray[Any]:
        """The largest of the parts' largest contributions."""
        beside = np.moveaxis(parts, 0, -2)
        return _descending(beside.reshape(*beside.shape[:-2], -1))[..., :keep]

    people = rolled_up(found.people.reshape(shape), dimensions, _total).ravel()
    return Contributions(
        people,
        rolled_up(found.top.reshape(*shape, keep), dimensions, largest).reshape(-1, keep),
        rolled_up(found.contributions.reshape(shape), dimensions, _total).ravel(),
        rolled_up(
            found.unwaived.reshape(shape), dimensions, lambda parts: np.asarray(parts.max(axis=0))
        ).ravel(),
        rolled_up(
            found.waived.reshape(shape), dimensions, lambda parts: np.asarray(parts.all(axis=0))
        ).ravel()
        & (people > 0),
    )


def _exact_counts(cells: Integers, times: Integers, size: int) -> Integers:
    found = np.zeros(size, np.int64)
    np.add.at(found, cells, times)
    return found


def of_holdings(
    entries: Entries, holdings: Integers, dimensions: Sequence[Dimension], *, keep: int
) -> Contributions:
    """Entries of one holding in a cell are one contribution, their sum; in totals as well, so these are made from the
    entries. A holding has agreed to be published if all its members in the cell have.
    """
    shape = tuple(map(len, dimensions))
    found = Contributions.none(int(np.prod(shape)), keep=keep)
    order = np.argsort(holdings, kind="stable")
    entries, holdings = entries.of(order), holdings[order]
    starts = np.concatenate([[0], np.flatnonzero(holdings[1:] != holdings[:-1]) + 1, [holdings.size]])
    for cells in cells_above(entries.cells, dimensions):
        found.enter(cells, entries, starts)
    found.waived[found.people == 0] = False
    return found


def cells_above(inner: Integers, dimensions: Sequence[Dimension]) -> Iterator[Integers]:
    """For each combination of depths, the cell that holds each of these cells without parts; −1: there is none."""
    shape = tuple(map(len, dimensions))
    nodes = np.unravel_index(inner, shape)
    for at_depth in product(*map(_ancestors, dimensions)):
        cells = np.zeros(inner.size, dtype=np.int64)
        for size, ancestors, node in zip(shape, at_depth, nodes, strict=True):
            above = ancestors[node]
            cells = np.where((cells < 0) | (above < 0), -1, cells * size + above)
        yield cells


def _ancestors(dimension: Dimension) -> list[Integers]:
    """For each depth, the ancestor of every node at that depth; −1 for nodes that lie above it."""
    deepest = max(map(len, dimension.path))
    found = [np.full(len(dimension), -1, dtype=np.int64) for _ in range(deepest)]
    for node, path in enumerate(dimension.path):
        for depth, ancestor in enumerate(reversed(path)):
            found[depth][node] = ancestor
    return found


def _total(parts: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(parts.sum(axis=0))


def _descending(amounts: Floats) -> Floats:
    """Along the last axis, by absolute size; of two opposite numbers the positive one first."""
    falling = -np.sort(-amounts, axis=-1)
    if not (amounts < 0).any():
        return falling
    return np.take_along_axis(falling, np.argsort(-np.abs(falling), axis=-1, kind="stable"), axis=-1)


# Who is alone in a cell: the contributor who knows its total, and those who contribute all that is not 0.

NOBODY, SEVERAL = -1, -2


class SoleContributors(NamedTuple):
    """The number of the contributor of each cell; below 0 if there is nobody, or not one alone."""

    alone: Integers
    """The only contributor."""
    only: Integers
    """The only one who contributes something other than 0."""
    told_apart: bool = True
    """False if some contributors are in several cells, and it is not known which."""

    def of(self, cells: Integers) -> SoleContributors:
        """Those of some cells."""
        return SoleContributors(self.alone[cells], self.only[cells], self.told_apart)


def sole_holdings(entries: Entries, holdings: Integers, dimensions: Sequence[Dimension]) -> SoleContributors:
    """From the entries of all holdings to cells without parts."""
    size = int(np.prod([len(dimension) for dimension in dimensions]))
    found = []
    for chosen in (slice(None), entries.amounts != 0):
        least, most = np.full(size, np.iinfo(np.int64).max), np.full(size, NOBODY)
        for cells in cells_above(entries.cells[chosen], dimensions):
            inside = cells >= 0
            np.minimum.at(least, cells[inside], holdings[chosen][inside])
            np.maximum.at(most, cells[inside], holdings[chosen][inside])
        found.append(np.where(least == most, most, NOBODY))
    alone, only = found
    return SoleContributors(alone, only)


def sole_contributors(table: CellTable) -> SoleContributors:
    """Of every cell; if the table does not say who its contributors are, each of them is in one cell without parts."""
    if table.sole is not None:
        return table.sole
    inner, cells = table.inner, np.arange(len(table))
    one = inner & (table.people == 1)
    second = table.top[:, 1] if table.top.shape[1] > 1 else np.ones(len(table))
    first = table.top[:, 0] if table.top.shape[1] else table.contributions
    alone = np.where(one, cells, np.where(inner & (table.people != 0), SEVERAL, NOBODY))
    only = np.where(inner & (first != 0), np.where(one | (second == 0), cells, SEVERAL), NOBODY)
    several = bool((table.people >= 0).all() and np.any(table.relations @ table.people != 0))
    return SoleContributors(_in_totals(alone, table), _in_totals(only, table), not several)


def _in_totals(inner: Integers, table: CellTable) -> Integers:
    """Totals of one contributor are those that have one in a single part."""

    def together(parts: NDArray[np.int64]) -> NDArray[np.int64]:
        somebody = (parts != NOBODY).sum(axis=0)
        return np.where(somebody == 0, NOBODY, np.where(somebody > 1, SEVERAL, _last(parts)))

    return np.asarray(rolled_up(inner.reshape(table.shape), table.dimensions, together).ravel())


def _last(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The one part that is not NOBODY: it may be SEVERAL."""
    place = np.argmax(parts != NOBODY, axis=0)
    return np.asarray(np.take_along_axis(parts, place[None], axis=0)[0])
