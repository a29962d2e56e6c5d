"""The error of counts and sums that an analyst computes from the release, over queries drawn at random from a seed.

A query chooses one to three columns and a condition on each: an interval of numbers, or some categories. It counts the
people who meet all of them, or sums a column of numbers over them. The released table answers with the probabilities of
its records to meet the conditions; records of a file are scaled to the number of people. An error is relative to the
true answer, or to a hundredth of the whole if the true answer is smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.shown_table import ShownTable
from equivoc.techniques.query_restriction import AnsweredQueries

Floats = NDArray[np.float64]
QUERIES = 200
MOST_COLUMNS = 3
SMALLEST = 0.01
"""Of the whole: errors of smaller answers are relative to this."""
ROUNDING = 1e-9
"""Of the whole: a smaller error is a rounding error."""


@dataclass(frozen=True)
class Query:
    """A condition on each of some columns, and the column that is summed ("": people are counted)."""

    wanted: dict[str, tuple[float, ...]]
    """Of categories the places; of numbers the two ends of an interval, included."""
    summed: str

    def members(self, table: ShownTable) -> Floats:
        """For each record, the probability that it meets the conditions."""
        found: Floats = np.ones(1)
        for name, places in self.wanted.items():
            column = table[name]
            distinct, place = column.distinct
            interval = (distinct >= places[0]) & (distinct <= places[-1])
            wanted = interval if column.numeric else np.isin(distinct, places)
            found = found * column.inside(wanted[place])
        return found

    def answer(self, table: ShownTable) -> float:
        """The count or the sum over the table's records."""
        members = self.members(table) * table.weights
        return float((members * table[self.summed].points if self.summed else members).sum())


def drawn_queries(
    original: ShownTable, seed: int, *, columns: Sequence[str] | None = None, count: int = QUERIES
) -> Iterator[Query]:
    """Random queries with conditions on some of the ``columns`` (None: all); every second one is a sum, if there are
    numbers to sum."""
    random = np.random.default_rng(seed)
    names = list(original.columns) if columns is None else list(columns)
    numbers = original.numeric_names
    present = {
        name: original[name].at[np.unique(original[name].codes)]
        for name in names
        if not original[name].numeric
    }
    for number in range(count):
        many = int(random.integers(1, min(MOST_COLUMNS, len(names)) + 1))
        wanted: dict[str, tuple[float, ...]] = {}
        for place in random.choice(len(names), size=many, replace=False):
            column = original[names[place]]
            if column.numeric:
                chosen = random.integers(len(original), size=2)
                low, high = np.sort(column.at[column.codes[chosen]]).tolist()
                wanted[names[place]] = (low, high)
            else:
                places = present[names[place]]
                size = random.integers(1, max(2, len(places)))
                wanted[names[place]] = tuple(random.choice(places, size=size, replace=False).tolist())
        summed = numbers[int(random.integers(len(numbers)))] if numbers and number % 2 else ""
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
    scale = len(original) / len(released) if released.of_records else 1.0
    errors = []
    for query in drawn_queries(original, seed):
        true = query.answer(original)
        whole = float(np.abs(original[query.summed].points).sum()) if query.summed else float(len(original))
        error = abs(scale * query.answer(released) - true)
        least = max(abs(true), SMALLEST * whole)
        errors.append(error / least if error > ROUNDING * whole else 0.0)
    return float(np.mean(errors))


# Which sums over people can be computed from the answers of query restriction.
#
# The answers are sums of two neighbouring blocks of records. A sum over some people follows from them exactly
# if it is a linear combination of answers: if each block is in the sum as a whole or not at all, records
# outside every block are not in it, and as many odd as even blocks are in it (every combination of answers
# has alternating sum 0 over the blocks).


def follows(release: AnsweredQueries, members: NDArray[np.bool_]) -> bool:
    """True if the sum over these people (one truth value per person) follows from the answers."""
    blocks, half = len(release.answers) + 1, release.size // 2
    in_order = members[release.order]
    if in_order[blocks * half :].any():
        return False
    by_block = in_order[: blocks * half].reshape(blocks, half)
    whole = np.asarray(by_block.all(axis=1))
    if not np.array_equal(whole, by_block.any(axis=1)):
        return False
    return bool(whole[::2].sum() == whole[1::2].sum())


def share_refused(release: AnsweredQueries, original: ShownTable, *, seed: int) -> tuple[float, int]:
    """The share of random sums over people chosen by their keys that does not follow, and the number of these sums.

    Without keys there is one: the sum over everyone.
    """
    keys = release.people.keys
    if not keys:
        return float(not follows(release, np.ones(len(original), dtype=np.bool_))), 1
    chosen = [query.members(original) > 0.5 for query in drawn_queries(original, seed, columns=keys)]
    found = [follows(release, members) for members in chosen if members.any()]
    return 1.0 - float(np.mean(found)), len(found)
