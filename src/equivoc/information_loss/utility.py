"""What a release loses for those who use it, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.information_loss.differences import association_losses, average_losses, distribution_losses
from equivoc.information_loss.loss import Loss
from equivoc.information_loss.prediction import HELD_OUT, prediction_loss
from equivoc.information_loss.propensity import pmse_ratio
from equivoc.information_loss.query_error import QUERIES, drawn_queries, mean_query_error
from equivoc.information_loss.shown_table import original_table, released_table
from equivoc.intruder.release import Release
from equivoc.number_format import figure, probability
from equivoc.techniques.query_restriction import AnsweredQueries


def utility(people: Microdata, release: Release, *, seed: int = 0) -> Any:
    """A frame of losses: measure, attribute, value, meaning. Each is 0 for the unprotected file; less is better.

    ``seed`` draws the random queries and the people held out.

    >>> import pandas as pd
    >>> from equivoc.techniques.rounding import Rounding
    >>> people = Microdata(pd.DataFrame({"age": [20, 30, 40], "pay": [10, 22, 31]}), confidential="pay", keys=["age"])
    >>> found = utility(people, Rounding(base=10).release(people))
    >>> found[found.measure == "averages"].round(3).values.tolist()[1][:3]
    ['averages', 'pay', 0.232]
    """
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
    """The rows of `utility`."""
    check_people("people", people)
    if not isinstance(release, Release):
        raise InputError(f"release is {release!r}; give a release, such as Sampling(0.1).release(people, 0).")
    return list(_losses(people, release, seed))


def _losses(people: Microdata, release: Release, seed: int) -> Iterator[Loss]:
    original = original_table(people)
    if isinstance(release, AnsweredQueries):
        found = 1.0 - _answerable(release, seed)
        yield Loss(
            "query_error",
            "",
            found,
            f"of {QUERIES} random queries a share of {probability(found)} is refused: off by 100 %",
        )
        yield Loss(
            "queries_refused",
            "",
            found,
            f"of {QUERIES} random queries a share of {probability(found)} is refused",
        )
        return
    released = released_table(people, release)
    if released is None:
        return
    error = mean_query_error(original, released, seed=seed)
    yield Loss(
        "query_error",
        "",
        error,
        f"{QUERIES} random counts and sums are off by {probability(error)} of the true answer on average",
    )
    yield from distribution_losses(original, released)
    yield from average_losses(original, released)
    yield from association_losses(original, released)
    ratio = pmse_ratio(original, released)
    yield Loss(
        "pmse",
        "",
        ratio,
        f"a model tells released from original records {figure(ratio)} times as well as it would tell a redraw",
    )
    worse = prediction_loss(original, released, confidential=people.confidential, seed=seed)
    unit = "of its standard deviation" if original[people.confidential].numeric else "of the people"
    yield Loss(
        "prediction",
        people.confidential,
        worse,
        f"a model trained on the release predicts {people.confidential} of people held out ({HELD_OUT:.0%}) with an "
        f"error larger by {figure(worse)} {unit}",
    )


def _answerable(release: AnsweredQueries, seed: int) -> float:
    """The share of random queries whose people are exactly a range that is answered."""
    original = original_table(release.people)
    place = np.empty(len(release.order), dtype=np.int64)
    place[release.order] = np.arange(len(place))
    size = 2 * (len(release.order) // (len(release.answers) + 1))
    answered = 0
    for query in drawn_queries(original, seed):
        members = np.sort(place[query.members(original) > 0.5])
        answered += bool(
            len(members) == size and members[-1] - members[0] == size - 1 and members[0] % (size // 2) == 0
        )
    return answered / QUERIES
