"""The error of counts and sums that an analyst computes from the release, over queries drawn at random from a seed.

A query chooses one to three columns and a condition on each: an interval of numbers, or some categories. It counts the
records that meet them, or sums a number column over them. The released table answers with its records' probabilities
to meet the condition, scaled to the number of people. An error is relative to the true answer, or to a hundredth of
the whole if the answer is smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.shown_table import ShownTable, numeric_names

Floats = NDArray[np.float64]
QUERIES = 200
MOST_COLUMNS = 3
SMALLEST = 0.01
"""Of the whole: errors of smaller answers are relative to this."""


@dataclass(frozen=True)
class Query:
    """The places that are wanted in each of some columns, and the column that is summed ("": records are counted)."""

    wanted: dict[str, tuple[float, ...]]
    """Of categories their places; of numbers the two ends of an interval."""
    summed: str

    def members(self, table: ShownTable) -> Floats:
        """Of each record, the probability that it meets the conditions."""
        found = np.ones(len(table))
        for name, places in self.wanted.items():
            column = table[name]
            if column.numeric:
                inside = (column.at >= places[0]) & (column.at <= places[1])
            else:
                inside = np.isin(column.at, places)
            found *= column.inside(inside)
        return found

    def answer(self, table: ShownTable) -> float:
        """The count or the sum, weighted."""
        members = self.members(table) * table.weights
        return float(members.sum() if not self.summed else members @ table[self.summed].means)


def drawn_queries(original: ShownTable, seed: int, count: int = QUERIES) -> Iterator[Query]:
    """Random queries about the original: every second one a sum, if there are numbers to sum."""
    random = np.random.default_rng(seed)
    names, numbers = list(original.columns), numeric_names(original)
    for number in range(count):
        chosen = random.choice(
            len(names), size=random.integers(1, min(MOST_COLUMNS, len(names)) + 1), replace=False
        )
        wanted: dict[str, tuple[float, ...]] = {}
        for name in (names[i] for i in chosen):
            places = np.unique(original[name].at[original[name].codes])
            if original[name].numeric:
                ends = np.sort(random.choice(original[name].means, size=2))
                wanted[name] = (float(ends[0]), float(ends[1]))
            else:
                some = random.choice(places, size=random.integers(1, max(2, len(places))), replace=False)
                wanted[name] = tuple(some.tolist())
        summed = numbers[random.integers(len(numbers))] if numbers and number % 2 else ""
        yield Query(wanted, summed)


def mean_query_error(original: ShownTable, released: ShownTable, *, seed: int) -> float:
    """The mean relative error over the queries; 0 for the original itself.

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.information_loss.shown_table import original_table
    >>> table = original_table(Microdata(pd.DataFrame({"pay": [10, 20, 30]}), confidential="pay"))
    >>> mean_query_error(table, table, seed=0)
    0.0
    """
    scale = len(original) / released.weights.sum()
    errors = []
    for query in drawn_queries(original, seed):
        true = query.answer(original)
        whole = len(original) if not query.summed else float(np.abs(original[query.summed].means).sum())
        least = SMALLEST * whole
        error = abs(scale * query.answer(released) - true)
        errors.append(error / max(abs(true), least) if error > 1e-9 * max(whole, 1.0) else 0.0)
    return float(np.mean(errors))
