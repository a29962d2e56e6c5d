"""What a release costs those who use it, in one table.

The error of queries: counts and sums that an analyst computes from the release, drawn at random from a seed. A query
chooses one to three columns and a condition on each: an interval of numbers, or some categories. It counts the
people who meet all of them, or sums a column of numbers over them. The released table answers with the probabilities of
its records to meet the conditions; records of a file are scaled to the number of people. An error is relative to the
true answer, or to a hundredth of the whole if the true answer is smaller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_whole_number
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.information_loss.differences import (
    DEVIATIONS,
    SHARE,
    Loss,
    association_losses,
    average_losses,
    distribution_losses,
)
from equivoc.information_loss.model_losses import HELD_OUT, pmse_ratio, prediction_loss
from equivoc.information_loss.shown_table import ShownTable, original_table, released_table
from equivoc.information_loss.table_losses import table_loss_frame, table_losses
from equivoc.releases.release import Release
from equivoc.tables.cell_table import CellTable
from equivoc.tables.release import TableRelease
from equivoc.techniques.query_restriction import AnsweredQueries
from equivoc.text import figure, probability

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


def utility(people: Microdata | CellTable, release: Release | TableRelease, *, seed: int = 0) -> Any:
    """A frame of losses: measure, attribute, value, meaning. Each is 0 for the unprotected file; less is better.

    ``seed`` draws the random queries and the people held out. Records count equally, whatever their survey weights.
    A table of cells with one of its releases has measures of its own: the share of cells and of the total withheld,
    the distance of rounded cells, the share of cells that a redesign merged.

    >>> import pandas as pd
    >>> from equivoc.techniques.rounding import Rounding
    >>> people = Microdata(pd.DataFrame({"age": [20, 30, 40], "pay": [10, 22, 31]}), confidential="pay", keys=["age"])
    >>> found = utility(people, Rounding(base=10).release(people))
    >>> found[found.measure == "averages"].round(3).values.tolist()[1][:3]
    ['averages', 'pay', 0.232]
    """
    if isinstance(people, CellTable):
        return table_loss_frame(people, table_losses(people, release))
    if isinstance(release, TableRelease):
        raise InputError(
            "what a released table loses is measured with its table of cells: eq.utility(table, release)."
        )
    rows = losses(people, release, seed=seed)
    return people.like(
        {
            "measure": [row.measure for row in rows],
            "attribute": [row.attribute for row in rows],
            "value": [row.value for row in rows],
            "meaning": [row.meaning for row in rows],
        }
    )


def losses(people: Microdata, release: Release, *, seed: int = 0) -> list[Loss]:
    """The rows of `utility`; measures that do not apply to the release are left out."""
    check_people("people", people)
    if not isinstance(release, Release):
        raise InputError(
            f"release is a {type(release).__name__}; make one with a technique: Sampling(0.1).release(people)."
        )
    own = release.people
    if own is not people and (len(own), own.keys) != (len(people), people.keys):
        raise InputError("the release was made from other people; give those that it was made from.")
    return list(_losses(release, checked_whole_number("seed", seed, at_least=0)))


def _losses(release: Release, seed: int) -> Iterator[Loss]:
    original = original_table(release.people)
    if isinstance(release, AnsweredQueries):
        yield from _of_answers(release, original, seed)
        return
    released = released_table(release)
    if released is None:
        return
    error = mean_query_error(original, released, seed=seed)
    meaning = (
        f"the answers to {QUERIES} random counts and sums (seed {seed}) are off by {probability(error)} times the true "
        "answer on average"
    )
    yield Loss("query_error", "", error, meaning, "relative error")
    yield from distribution_losses(original, released)
    yield from average_losses(original, released)
    yield from association_losses(original, released)
    yield from _of_models(original, released, release.people.confidential, seed)


def _of_answers(release: AnsweredQueries, original: ShownTable, seed: int) -> Iterator[Loss]:
    refused, sums = share_refused(release, original, seed=seed)
    drawn = (
        f"{sums:,} random sums over people chosen by their keys (seed {seed})"
        if sums > 1
        else "1 sum over everyone"
    )
    meaning = f"of {drawn}, a share of {probability(refused)} does not follow from the answers"
    yield Loss(
        "query_error",
        "",
        refused,
        f"{meaning} and counts as wrong by 100 %; the others are exact",
        "relative error",
    )
    yield Loss("queries_refused", "", refused, meaning, "share of the queries")


def _of_models(original: ShownTable, released: ShownTable, confidential: str, seed: int) -> Iterator[Loss]:
    ratio = pmse_ratio(original, released, confidential=confidential, seed=seed)
    if ratio is not None:
        meaning = (
            f"a model tells released from original records {figure(ratio)} times as well as it would if the release "
            "had been drawn afresh from the original's distribution"
        )
        yield Loss("pmse", "", ratio, meaning, "ratio to a redraw, which has 1")
    worse = prediction_loss(original, released, confidential=confidential, seed=seed)
    if worse is None:
        return
    numeric = original[confidential].numeric
    error = (
        f"an error larger by {figure(worse)} standard deviations"
        if numeric
        else f"a share of errors larger by {probability(worse)}"
    )
    split = (
        f"tested on {HELD_OUT:.0%} of the people, held out from both (drawn with seed {seed})"
        if released.origins is not None
        else f"tested on {HELD_OUT:.0%} of the people (drawn with seed {seed}; both models may have seen "
        "their records, because it is not known which released records are theirs)"
    )
    meaning = (
        f"a model that predicts {confidential} from the keys has {error} if it is trained on the release instead of "
        f"the original; {split}"
    )
    yield Loss("prediction", confidential, worse, meaning, DEVIATIONS if numeric else SHARE)


# One figure per measure for a whole release, so that releases can be ranked.

MEASURES = (
    "query_error",
    "distribution",
    "averages",
    "correlations",
    "two_way_tables",
    "pmse",
    "prediction",
    "queries_refused",
)
"""The names of all measures. "query_error" is the default for ranking."""


def overall(losses: Iterable[Loss]) -> dict[str, float | None]:
    """Each measure of a release: the largest over its attributes; None if the measure does not apply.

    >>> found = overall([Loss("averages", "age", 0.1, ""), Loss("averages", "pay", 0.3, "")])
    >>> found["averages"], found["pmse"]
    (0.3, None)
    """
    found: dict[str, float | None] = dict.fromkeys(MEASURES)
    for loss in losses:
        before = found[loss.measure]
        found[loss.measure] = loss.value if before is None else max(before, loss.value)
    return found
