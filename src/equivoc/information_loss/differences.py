"""How far the released table's distributions, averages and associations are from the original's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.shown_table import ShownColumn, ShownTable
from equivoc.text import figure, probability

# One measure of what a release loses.

ROUNDING = 1e-12
"""Smaller losses are rounding errors of equal tables."""


@dataclass(frozen=True)
class Loss:
    """One measure: less is better, 0 is the loss of the unprotected file."""

    measure: str
    attribute: str
    """The attribute it is about; "" if it is about all columns."""
    value: float
    meaning: str
    """What the value means, in a sentence with its unit."""
    unit: str = ""
    """The unit of the value, in a few words."""

    def __post_init__(self) -> None:
        if self.value < ROUNDING:
            object.__setattr__(self, "value", 0.0)


# Few classes of a column: about equally many records of numbers each, or the most frequent categories.

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


CLASSES = 10
"""Of each column of a two-way table, at most."""
QUARTILES = np.array([0.25, 0.5, 0.75])
DEVIATIONS = "standard deviations of the original"
SHARE = "share of the records"


def distribution_losses(original: ShownTable, released: ShownTable) -> Iterator[Loss]:
    """Per attribute: Wasserstein distance / standard deviation of numbers, total variation distance of categories."""
    from scipy.stats import wasserstein_distance

    for name, column in original.columns.items():
        own, there = column.distribution(original.weights), released[name].distribution(released.weights)
        if column.numeric:
            found = float(wasserstein_distance(own[0], there[0], own[1], there[1])) / deviation(
                original, name
            )
            meaning = (
                f"the values of {name} must move by {figure(found)} standard deviations on average to turn the "
                "released distribution into the original one"
            )
            yield Loss("distribution", name, found, meaning, DEVIATIONS)
        else:
            found = _total_variation(*own, *there)
            meaning = (
                f"a share of {probability(found)} of the records must get another {name} to turn the released "
                "distribution into the original one"
            )
            yield Loss("distribution", name, found, meaning, SHARE)


def average_losses(original: ShownTable, released: ShownTable) -> Iterator[Loss]:
    """Per attribute that holds numbers: the largest difference of mean and quartiles, in standard deviations."""
    for name in original.numeric_names:
        own, there = (_averages(*table[name].distribution(table.weights)) for table in (original, released))
        found = float(np.abs(own - there).max()) / deviation(original, name)
        meaning = f"the mean or a quartile of {name} is off by {figure(found)} standard deviations"
        yield Loss("averages", name, found, meaning, DEVIATIONS)


def association_losses(original: ShownTable, released: ShownTable) -> Iterator[Loss]:
    """The mean absolute difference of correlations, and the mean total variation distance of two-way tables."""
    names = original.numeric_names
    if len(names) > 1:
        own, there = (_correlations(table, names) for table in (original, released))
        found = float(np.abs(own - there)[np.triu_indices(len(names), 1)].mean())
        meaning = f"the correlation of two columns of numbers is off by {figure(found)} on average"
        yield Loss("correlations", "", found, meaning, "difference of correlations, 0 to 2")
    if len(original.columns) > 1:
        found = _two_way_difference(original, released)
        meaning = (
            f"a share of {probability(found)} of the records must change cells to turn the released table of two "
            f"columns into the original one, on average over all pairs of columns (at most {CLASSES} classes each)"
        )
        yield Loss("two_way_tables", "", found, meaning, SHARE)


def deviation(original: ShownTable, name: str) -> float:
    """The original's standard deviation; 1 if all its values are equal."""
    at, share = original[name].distribution(original.weights)
    scale = float(np.abs(at).max()) or 1.0  # squares of the largest numbers would overflow
    at = at / scale
    found = float(np.sqrt(share @ (at - share @ at) ** 2)) * scale
    return found if found > 0 else 1.0


def _total_variation(at: Floats, share: Floats, other_at: Floats, other_share: Floats) -> float:
    places, of = np.unique(np.concatenate([at, other_at]), return_inverse=True)
    own = np.bincount(of[: len(at)], share, minlength=len(places))
    there = np.bincount(of[len(at) :], other_share, minlength=len(places))
    return 0.5 * float(np.abs(own - there).sum())


def _averages(at: Floats, share: Floats) -> Floats:
    """The mean and the quartiles; a quartile is the first number at which its share is reached."""
    order = np.argsort(at, kind="stable")
    reached = np.cumsum(share[order])
    quartiles = at[order][np.minimum(np.searchsorted(reached, QUARTILES - 1e-9), len(at) - 1)]
    return np.array([share @ at, *quartiles])


def _correlations(table: ShownTable, names: list[str]) -> Floats:
    """The correlations of the records' numbers; 0 with a column whose numbers are all equal."""
    numbers = np.stack([table[name].points for name in names])
    numbers = numbers / np.maximum(np.abs(numbers).max(axis=1, initial=0), np.finfo(float).tiny)[:, None]
    total = table.weights.sum()
    share = (table.weights if total > 0 else np.ones(len(table))) / (total if total > 0 else len(table))
    centred = numbers - (numbers @ share)[:, None]
    covariance = (centred * share) @ centred.T
    variance = np.maximum(np.diag(covariance), 0.0)  # noisy counts may make it negative
    variance = np.where(variance > 1e-12 * np.square(numbers).max(axis=1, initial=0), variance, 0.0)
    both = np.sqrt(np.outer(variance, variance))
    found = np.divide(covariance, both, out=np.zeros_like(covariance), where=both > 0)
    return np.asarray(np.clip(found, -1.0, 1.0))


def _two_way_difference(original: ShownTable, released: ShownTable) -> float:
    classings = {name: classing(original, name, most=CLASSES) for name in original.columns}
    tables = [
        {name: classings[name].by_symbol(table[name]) for name in original.columns}
        for table in (original, released)
    ]
    distances = []
    for one, other in combinations(original.columns, 2):
        own, there = (
            _two_way_table(table, one, other, by_symbol[one], by_symbol[other])
            for table, by_symbol in zip((original, released), tables, strict=True)
        )
        distances.append(0.5 * float(np.abs(own - there).sum()))
    return float(np.mean(distances))


def _two_way_table(table: ShownTable, one: str, other: str, rows: Floats, columns: Floats) -> Floats:
    """The shares of the records in the classes of two columns; a negative cell counts as 0."""
    from scipy.sparse import coo_array

    codes = (table[one].codes, table[other].codes)
    pairs = coo_array((table.weights, codes), shape=(len(rows), len(columns))).tocsr()
    found = np.maximum(rows.T @ (pairs @ columns), 0.0)
    total = found.sum()
    return np.asarray(found / total if total > 0 else np.full(found.shape, 1 / found.size))
