"""Makes predicates from a released table: those that fit exactly one released record, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.models.of_release import fitting_kernels as kernels
from equivoc.models.of_release.attacks import Attribute
from equivoc.models.of_release.fitting_kernels import AT_LEAST, AT_MOST, EQUAL, NULL

MOST_ATTEMPTS = 1_000_000
"""The search for predicates is given up after this many, …"""
MOST_WORK = 2_000_000_000
"""… or after looking at this many records, some seconds: few records are left out early in a long, varied table."""
_BATCH = 2_000
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Predicates:
    """Predicates, one per row; each is as many conditions as there are columns, and a record must meet all."""

    attributes: Ints
    """The number of each condition's attribute."""
    signs: Ints
    """EQUAL, NULL, AT_MOST or AT_LEAST."""
    values: Floats
    """What the attribute is compared with."""

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, rows: Any) -> Predicates:
        return Predicates(self.attributes[rows], self.signs[rows], self.values[rows])

    def fitting(self, table: Floats) -> Ints:
        """How many records of a table fit each predicate: 0, 1, or 2 for several. The table has a row per attribute."""
        return _counted(self, table, len(self) + 1, np.iinfo(np.int64).max)[0]


@dataclass(frozen=True)
class Found:
    """Predicates that fit exactly one released record."""

    predicates: Predicates
    attempts: int
    """How many were made to find them."""
    all_there_are: bool
    """Whether every predicate that the release offers was made."""


def univariate(attributes: Sequence[Attribute], most: int, rng: np.random.Generator) -> Found:
    """Values that occur once in their column, and of numbers the least and the greatest: all, or ``most`` of them."""
    made: list[tuple[int, int, float]] = []
    for at, each in enumerate(attributes):
        values, times = np.unique(each.released, return_counts=True)  # all nulls are one NaN, the last
        made += [(at, NULL if np.isnan(v) else EQUAL, v) for v in values[times == 1]]
        values = values[~np.isnan(values)]
        if each.numeric and values.size:
            made += [(at, AT_MOST, values[0]), (at, AT_LEAST, values[-1])]
    table = np.array(made, np.float64).reshape(-1, 3)
    numbers = table[:, :2].astype(np.int64)
    every = Predicates(numbers[:, :1], numbers[:, 1:], table[:, 2:])
    if len(every) <= most:
        return Found(every, len(every), all_there_are=True)
    return Found(every[rng.choice(len(every), most, replace=False)], len(every), all_there_are=False)


def multivariate(attributes: Sequence[Attribute], width: int, most: int, rng: np.random.Generator) -> Found:
    """Different predicates of ``width`` attributes that fit exactly one released record, up to ``most``.

    A predicate is made of a released record and some attributes. Where there are few such pairs, all are tried, in
    random order; otherwise pairs are drawn. The predicates of different pairs that fit one record are different: each
    fits its own record.
    """
    released = np.stack([each.released for each in attributes])
    # In random order, a predicate that fits many records is soon seen to fit two.
    released = released[:, rng.permutation(released.shape[1])]
    high = _above_median(released)
    numeric = np.array([each.numeric for each in attributes])
    width = min(width, len(attributes))
    pairs = released.shape[1] * comb(len(attributes), width)
    kept: list[Predicates] = []
    seen: set[tuple[int, ...]] = set()
    attempts = work = 0
    for records, columns in _pairs(released.shape, width, rng):
        values, above = released[columns, records[:, None]], high[columns, records[:, None]]
        signs = np.where(numeric[columns], np.where(above, AT_LEAST, AT_MOST), EQUAL)
        made = Predicates(columns, np.where(np.isnan(values), NULL, signs), values)
        counts, tried, looked_at = _counted(made, released, most - len(seen), MOST_WORK - work)
        attempts, work = attempts + tried, work + looked_at
        for row in np.flatnonzero(counts == 1):
            pair = (int(records[row]), *columns[row].tolist())
            if pair not in seen:
                seen.add(pair)
                kept.append(made[row : row + 1])
        if len(seen) >= most or work >= MOST_WORK or attempts >= MOST_ATTEMPTS:
            break
    found = Predicates(
        *(
            np.concatenate([getattr(each, name) for each in kept] or [np.empty((0, width), kind)])
            for name, kind in (("attributes", np.int64), ("signs", np.int64), ("values", np.float64))
        )
    )
    return Found(found, attempts, all_there_are=attempts == pairs <= MOST_ATTEMPTS)


def at_random(
    attributes: Sequence[Attribute], width: int, number: int, rng: np.random.Generator
) -> Predicates:
    """Attributes, signs and values at random, each value from a released record of its own."""
    columns = _some_columns(len(attributes), min(width, len(attributes)), number, rng)
    released = np.stack([each.released for each in attributes])
    values = released[columns, rng.integers(released.shape[1], size=columns.shape)]
    ordered = np.array([each.numeric for each in attributes])[columns]
    signs = np.where(ordered, rng.choice([EQUAL, AT_MOST, AT_LEAST], columns.shape), EQUAL)
    return Predicates(columns, np.where(np.isnan(values), NULL, signs), values)


def _counted(predicates: Predicates, table: Floats, wanted: int, most_work: int) -> tuple[Ints, int, int]:
    """The kernel's counts (0 for predicates that it did not come to), how many it came to, and its work."""
    counts = np.zeros(len(predicates), np.int64)
    tried, work = kernels.fitting(
        table, predicates.attributes, predicates.signs, predicates.values, wanted, most_work, counts
    )
    return counts, tried, work


def _above_median(released: Floats) -> NDArray[np.bool_]:
    """Which values are above their column's median; null is not."""
    high = np.zeros(released.shape, bool)
    for row, column in zip(high, released, strict=True):
        values = column[~np.isnan(column)]
        if values.size:
            row[:] = column > np.median(values)
    return high


def _pairs(shape: tuple[int, int], width: int, rng: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """Batches of records with attributes: every pair once if there are at most MOST_ATTEMPTS, otherwise drawn."""
    attributes, records = shape
    if records * comb(attributes, width) <= MOST_ATTEMPTS:
        subsets = np.array(list(combinations(range(attributes), width)), np.int64)
        order = rng.permutation(records * len(subsets))
        for begin in range(0, len(order), _BATCH):
            record, subset = np.divmod(order[begin : begin + _BATCH], len(subsets))
            yield record, subsets[subset]
        return
    while True:
        yield rng.integers(records, size=_BATCH), _some_columns(attributes, width, _BATCH, rng)


def _some_columns(attributes: int, width: int, number: int, rng: np.random.Generator) -> Ints:
    """``width`` different attributes for each of ``number`` predicates, in ascending order."""
    order = np.argsort(rng.random((number, attributes)), axis=1)
    return np.sort(order[:, :width], axis=1)
