"""A file with changed and unchanged columns, against a double loop over people and records."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from equivoc.data.microdata import Microdata
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.releases.linked_release import LinkedRelease

AGES, SEXES, PAYS = [30, 40, 50, 30, 40, 30], ["F", "M", "F", "F", "F", None], [10, 20, 10, 30, 20, 20]
DECADES = ReleasedColumn(
    np.array([0, 0, 1, 0, 0, 2]),
    pa.array(["30-40", "50", "*"]),
    np.array([[1 / 2, 1 / 2, 0], [0, 0, 1], [1 / 3, 1 / 3, 1 / 3]]),
)
ROUNDED = ReleasedColumn(
    np.array([0, 0, 0, 1, 0, 0]), pa.array([15, 30]), np.array([[1 / 2, 1 / 2, 0], [0, 0, 1]])
)


@pytest.fixture
def people() -> Microdata:
    table = pa.table({"age": AGES, "sex": SEXES, "pay": PAYS})
    return Microdata(table, confidential="pay", keys=["age", "sex"])


def by_hand(people, release, known):
    """Every class's posterior from the definition, one person and one released record at a time."""
    expected = {}
    for person in range(len(AGES)):
        target = {"age": AGES[person], "sex": SEXES[person]}
        belief = np.zeros(3)
        for record in range(len(AGES)):
            weight = 1.0
            for name in known:
                column, level = release.keys[name], people.levels(name).index(target[name])
                shown = column.codes[record]
                weight *= float(shown == level) if column.channel is None else column.channel[shown, level]
            symbol = release.confidential.codes[record]
            told = np.eye(3) if release.confidential.channel is None else release.confidential.channel
            belief += weight * told[symbol]
        expected[tuple(target[name] for name in known)] = belief / belief.sum()
    return expected


@pytest.mark.parametrize("keys_change", [False, True])
@pytest.mark.parametrize("values_change", [False, True])
def test_posteriors_and_sweep_against_a_double_loop(people, keys_change, values_change):
    release = LinkedRelease(
        people,
        {"age": DECADES if keys_change else unchanged(people, "age"), "sex": unchanged(people, "sex")},
        ROUNDED if values_change else unchanged(people, "pay"),
    )
    swept = {post.known: post for post in release.own_sweep()}
    assert {frozenset(known) for known in swept} == {
        frozenset(s) for size in range(3) for s in combinations(("age", "sex"), size)
    }
    for known, post in [
        *swept.items(),
        (("sex", "age"), release.posteriors(["sex", "age"], intruder="paper")),
    ]:
        expected = by_hand(people, release, known)
        levels = [people.levels(name) for name in known]
        assert len(post) == len(expected)
        for codes, row in zip(post.classes.key_codes, post.probabilities, strict=True):
            key = tuple(level[code] for level, code in zip(levels, codes, strict=True))
            np.testing.assert_allclose(row, expected[key], rtol=1e-12, err_msg=str(key))
        np.testing.assert_allclose(post.curves().h0, post.shannon(), atol=1e-12)


def test_the_table_shows_the_symbols(people):
    release = LinkedRelease(people, {"age": DECADES, "sex": unchanged(people, "sex")}, ROUNDED)
    assert release.table.to_pydict() == {
        "age": ["30-40", "30-40", "50", "30-40", "30-40", "*"],
        "sex": SEXES,
        "pay": [15, 15, 15, 30, 15, 15],
    }
