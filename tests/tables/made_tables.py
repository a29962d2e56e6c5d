"""Tables made from arrays of contributions, without counting people: cells and margins summed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.cell_table import CellTable, Dimension


def leaves_below(dimension: Dimension) -> list[list[int]]:
    """Of each node, the leaves below it, numbered among the leaves."""
    number = {int(leaf): at for at, leaf in enumerate(dimension.leaves)}
    found: list[list[int]] = [[] for _ in range(len(dimension))]
    for leaf, at in number.items():
        node = leaf
        while node >= 0:
            found[node].append(at)
            node = int(dimension.parents[node])
    return found


def tree(name: str, branches: Sequence[int]) -> Dimension:
    """Two levels of categories: for each group, how many categories it has."""
    parents, labels = [-1], [None]
    for group, size in enumerate(branches):
        parents.append(0)
        labels.append(f"{name}{group}")
        parents += [len(parents) - 1] * size
        labels += [f"{name}{group}.{at}" for at in range(size)]
    return Dimension(name, tuple(labels), np.array(parents, dtype=np.int64))


def table_of(
    dimensions: Sequence[Dimension],
    contributions: dict[tuple[int, ...], Sequence[float]],
    *,
    value: str | None = "pay",
) -> CellTable:
    """A table from each inner cell's contributions; keys are leaf numbers."""
    below = [leaves_below(dimension) for dimension in dimensions]
    shape = tuple(len(dimension) for dimension in dimensions)
    values, people, top = np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros((*shape, 3))
    size = np.zeros(shape)
    for cell in np.ndindex(*shape):
        inside = [
            x
            for key, given in contributions.items()
            if all(at in below[d][cell[d]] for d, at in enumerate(key))
            for x in given
        ]
        largest = sorted(inside, key=abs, reverse=True)[:3]
        values[cell], people[cell] = fsum(inside), len(inside)
        size[cell] = fsum(map(abs, inside))
        top[(*cell, slice(0, len(largest)))] = largest
    return CellTable(
        tuple(dimensions),
        value,
        values.ravel(),
        people.ravel(),
        top.reshape(-1, 3),
        size.ravel(),
        np.zeros(values.size, dtype=bool),
    )


def table_of_array(inner: NDArray[np.float64], *, people: int = 5) -> CellTable:
    """A flat table from inner totals: every total is made of so many equal contributions, 0 of none."""
    dimensions = [Dimension.flat(f"key{d}", list(range(size))) for d, size in enumerate(inner.shape)]
    return table_of(dimensions, {key: [float(x) / people] * people for key, x in np.ndenumerate(inner) if x})
