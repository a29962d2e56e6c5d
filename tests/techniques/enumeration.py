"""Posteriors by enumeration of every original that could have given a release, and every person in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

Likelihood = Callable[[str, Any, Any], float]
"""Of a column, a true value and a shown one: how likely the first is shown as the second."""


def posterior_by_enumeration(
    levels: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    likelihood: Likelihood,
    *,
    known: Mapping[str, Any],
    confidential: str,
) -> list[float]:
    """For each level of the confidential column, its share among the people who have the ``known`` values.

    All originals, in which each record has any combination of levels, are equally likely a priori. Each is weighted by
    the probability that it gives this release.
    """
    names = list(levels)
    of_a_record = [dict(zip(names, row, strict=True)) for row in product(*levels.values())]
    records = len(released[confidential])
    shown = [{name: released[name][r] for name in names} for r in range(records)]
    possible = [
        [
            (person, weight)
            for person in of_a_record
            if (weight := prod(likelihood(name, person[name], shown[r][name]) for name in names))
        ]
        for r in range(records)
    ]
    total = dict.fromkeys(levels[confidential], 0.0)
    for original in product(*possible):
        weight = prod(each for _, each in original)
        for person, _ in original:
            if all(person[name] == value for name, value in known.items()):
                total[person[confidential]] += weight
    everyone = sum(total.values())
    return [weight / everyone for weight in total.values()]


def assert_posteriors_by_enumeration(release: Any, likelihood: Likelihood, known: Sequence[str]) -> None:
    """The release's posteriors are those of the enumeration, class by class."""
    people = release.people
    levels = {
        **{key: people.levels(key) for key in people.keys},
        people.confidential: people.values.tolist(),
    }
    post = release.posteriors(known, intruder="paper")
    for row, codes in zip(post.probabilities, post.classes.key_codes, strict=True):
        values = {key: people.levels(key)[code] for key, code in zip(known, codes, strict=True)}
        expected = posterior_by_enumeration(
            levels,
            release.table.to_pydict(),
            likelihood,
            known=values,
            confidential=people.confidential,
        )
        assert sum(expected) > 0.999999
        assert max(abs(row - expected)) < 1e-12, (values, row, expected)
