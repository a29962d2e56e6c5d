"""Few classes of a column: about equally many records of numbers each, or the most frequent categories."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.shown_table import ShownColumn, ShownTable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Classing:
    """The classes of a column's places."""

    bounds: Floats = field(repr=False)
    """Of numbers: the inner bounds between classes. Of categories: those with a class of their own, ascending."""
    numeric: bool

    def __len__(self) -> int:
        """How many classes there are; the last class of categories holds all the others."""
        return len(self.bounds) + 1

    def of(self, at: Floats) -> NDArray[np.int64]:
        """The class of each place."""
        if self.numeric:
            return np.searchsorted(self.bounds, at, side="right")
        place = np.searchsorted(self.bounds, at)
        known = np.append(self.bounds, np.nan)[place] == at
        return np.where(known, place, len(self.bounds))

    def by_symbol(self, column: ShownColumn) -> Floats:
        """Symbols × classes: the probability of each class."""
        table = np.zeros((len(column.starts) - 1, len(self)))
        np.add.at(table, (column.symbol, self.of(column.at)), column.shares)
        return table


def classing(original: ShownTable, name: str, *, most: int) -> Classing:
    """At most ``most`` classes of a column, chosen by the original."""
    column = original[name]
    at, share = column.distribution(original.weights)
    at, share = at[share > 0], share[share > 0]
    if not column.numeric:
        frequent = at[np.argsort(-share, kind="stable")]
        return Classing(np.sort(frequent if len(at) < most else frequent[: most - 1]), False)
    order = np.argsort(at, kind="stable")
    if len(at) <= most:
        places = at[order]
        return Classing((places[1:] + places[:-1]) / 2, True)
    reached = np.cumsum(share[order])
    cuts = at[order][np.searchsorted(reached, np.arange(1, most) / most - 1e-9)]
    return Classing(np.unique(cuts), True)
