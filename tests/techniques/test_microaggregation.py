"""Microaggregation: posteriors from means, against all originals with the same groups and sums."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.microaggregation import Microaggregation
from equivoc.techniques.unprotected import Unprotected

AGES, PAYS = [20, 21, 24], [10, 20, 40]


def originals(levels, groups, column):
    """All columns over these levels whose groups have the sums that ``column``'s have."""
    for candidate in product(levels, repeat=len(column)):
        apart = np.bincount(groups, np.subtract(candidate, column))
        if not apart.any():
            yield candidate


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(AGES), st.sampled_from(PAYS)), min_size=2, max_size=5),
    st.integers(2, 4),
    st.sampled_from(["confidential", "keys", "all"]),
    st.sampled_from([None, "mdav", "fast"]),
)
def test_posteriors_against_all_originals(rows, size, on, method):
    """All pairs of columns with the same sums in the same groups are as likely; the target is anyone of the age."""
    ages, pays = map(list, zip(*rows, strict=True))
    people = Microdata(pa.table({"age": ages, "pay": pays}), confidential="pay", keys=["age"], domain=PAYS)
    release = Microaggregation(size=min(size, len(rows)), on=on, method=method).release(people)
    levels = sorted(set(ages))
    all_ages = list(originals(levels, release.group, ages)) if on != "confidential" else [ages]
    all_pays = list(originals(PAYS, release.group, pays)) if on != "keys" else [pays]
    expected = np.zeros((len(levels), len(PAYS)))
    for one, other in product(all_ages, all_pays):
        for age, pay in zip(one, other, strict=True):
            expected[levels.index(age), PAYS.index(pay)] += 1
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        release.posteriors(["age"], intruder="paper").probabilities, expected, atol=1e-12
    )


def test_a_group_worked_by_hand():
    """Pays 10, 20, 30 and three people who earn 50 together: 10+10+30 in 3 orders, 10+20+20 in 3."""
    people = Microdata(pd.DataFrame({"pay": [10, 30, 10]}), confidential="pay", domain=[10, 20, 30])
    release = Microaggregation(size=3).release(people)
    assert release.table["pay"].tolist() == pytest.approx([50 / 3] * 3)
    assert release.posteriors([], intruder="paper").probabilities.tolist() == [
        pytest.approx([3 / 6, 2 / 6, 1 / 6])
    ]


def test_every_value_is_its_groups_mean(people):
    release = Microaggregation(size=4, on=("age", "pay")).release(people)
    original, released = people.frame.to_pandas(), release.table.to_pandas()
    assert np.bincount(release.group).min() >= 4
    for name in ("age", "pay"):
        np.testing.assert_allclose(released[name], original[name].groupby(release.group).transform("mean"))
    pd.testing.assert_frame_equal(released[["sex", "job"]], original[["sex", "job"]])


@pytest.mark.parametrize("on", ["confidential", "age", "age+pay"])
def test_groups_of_one_are_the_file_itself(people, beliefs, on):
    one, itself = Microaggregation(size=1, on=on).release(people), Unprotected().release(people)
    assert one.table.to_pylist() == itself.table.to_pylist()
    for known in ([], ["age"], ["age", "sex", "job"]):
        assert beliefs(one.posteriors(known, intruder="paper")) == beliefs(
            itself.posteriors(known, intruder="paper")
        )


def test_one_group_of_all_gives_everyone_the_same_posterior(people):
    """The sum of forty people: everybody has the same posterior, close to the distribution that this mean suggests."""
    release = Microaggregation(size=40).release(people)
    post = release.posteriors(["age", "sex", "job"], intruder="paper").probabilities
    assert (post == post[0]).all()
    assert float(post[0] @ people.values) == pytest.approx(float(people.values[people.codes].mean()))


@pytest.mark.parametrize("method", ["optimal", "mdav", "fast"])
def test_decimals_and_holes_are_on_a_grid(method):
    values = [0.1, 0.25, 0.25, 0.7, 0.1, 0.7]
    people = Microdata(pd.DataFrame({"pay": values}), confidential="pay")
    found = Microaggregation(size=3, method=method).release(people)
    sums = np.bincount(found.group, values)
    for record, group in enumerate(found.group):
        possible = [c for c in product([0.1, 0.25, 0.7], repeat=3) if abs(sum(c) - sums[group]) < 1e-9]
        expected = [sum(c[0] == v for c in possible) / len(possible) for v in (0.1, 0.25, 0.7)]
        assert found.confidential.channel.dense()[found.confidential.codes[record]] == pytest.approx(expected)


@pytest.mark.parametrize("size", [0, -1, 2.0, "3", True, None])
def test_invalid_sizes(size):
    with pytest.raises(
        InputError, match=f"size is {size}; a group has a whole number of records, at least 1"
    ):
        Microaggregation(size=size)


@pytest.mark.parametrize(
    ("technique", "message"),
    [
        (Microaggregation(size=41), "size is 41 but there are only 40 records"),
        (
            Microaggregation(size=3, on="sex"),
            "'sex' has missing values, which have no mean; leave it out of on",
        ),
        (
            Microaggregation(size=3, on="job"),
            "'job' holds string values, which have no mean; leave it out of on",
        ),
        (Microaggregation(size=3, on="agee"), "on names 'agee', which is neither a key nor the confidential"),
        (
            Microaggregation(size=3, on="age+pay", method="optimal"),
            r"method optimal is for one column, not 2 \(age, pay\); use mdav",
        ),
    ],
    ids=lambda p: getattr(p, "notation", ""),
)
def test_what_cannot_be_averaged(people, technique, message):
    with pytest.raises(InputError, match=message):
        technique.release(people)


def test_an_unknown_method():
    with pytest.raises(InputError, match="method is 'best'; it must be one of optimal, mdav, fast"):
        Microaggregation(size=3, method="best")


@pytest.mark.parametrize("values", [[1e120, 1.0, 2.0], [-1e149, 0.0, 1e149]])
def test_values_whose_squares_overflow(values):
    people = Microdata(pd.DataFrame({"pay": values}), confidential="pay", domain=sorted(values))
    with pytest.raises(InputError, match=r"'pay' holds .*; squares of such values cannot be computed"):
        Microaggregation(size=2).release(people)


def test_values_next_to_zero() -> None:
    """Steps between them are no normal numbers: cells past a window's end ended in a traceback."""
    pay = np.resize([5e-324, 1e-320, 0.0, 1.0], 60)
    frame = pd.DataFrame({"sex": ["F", "M"] * 30, "pay": pay})
    people = Microdata(frame, confidential="pay", keys=["sex"])
    probabilities = Microaggregation(size=3).release(people).posteriors(["sex"]).probabilities
    assert probabilities.shape[1] == 4
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
