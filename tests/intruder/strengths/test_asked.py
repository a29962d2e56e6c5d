"""Which intruder is used if one is asked for by name: she, or another with the reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq


@pytest.fixture(scope="module")
def people() -> eq.Microdata:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(20, 40, 120), "pay": rng.integers(1, 9, 120) * 10})
    return eq.Microdata(frame, confidential="pay", keys=["age"])


@pytest.mark.parametrize(
    ("technique", "asked", "used", "why"),
    [
        (eq.Sampling(0.5), "register", "informed", "no known key was changed"),
        (eq.Rounding(20, on="age"), "learned", "informed", "is not one of its levels"),
        (eq.QueryRestriction(4), "learned", "informed", "no records are released"),
        (eq.NoisyTable(1.0), "register", "informed", "the release has no records"),
        (eq.Unprotected(), "plain", "informed", "the file itself is released"),
        (eq.NoiseAddition(50, belief="interval"), "informed", "own", "names its own intruder"),
        (eq.Sampling(0.5, prior="uniform"), "learned", "own", "names its own intruder"),
    ],
    ids=lambda each: getattr(each, "notation", None),
)
def test_another_intruder_is_named_with_the_reason(people, technique, asked, used, why):
    result = eq.assess(people, technique, intruder=asked)
    assert result.intruder == used
    assert result.intruders.loc[result.intruders["used"], "intruder"].tolist() == [used]
    assert why in result.summary["left_out"][asked]
    assert any(why in note and asked in note for note in result.notes)
    again = eq.assess(people, technique, intruder=used) if used != "own" else eq.assess(people, technique)
    np.testing.assert_array_equal(result.figures.h0, again.figures.h0)


@pytest.mark.parametrize("asked", ["informed", "paper", "file", "plain", "learned"])
def test_an_intruder_that_applies_is_used_without_a_remark(people, asked):
    result = eq.assess(people, eq.Sampling(0.5), intruder=asked)
    assert result.intruder == asked
    assert not any("asked for" in note for note in result.notes)


@pytest.mark.parametrize(
    ("technique", "asked", "why"),
    [
        (eq.QueryRestriction(4), "file", "a set of answers, not a table of records"),
        (eq.NoisyTable(1.0), "file", "a table of counts, not of records"),
    ],
    ids=lambda each: getattr(each, "notation", None),
)
def test_a_release_without_records_to_read_is_refused(people, technique, asked, why):
    with pytest.raises(eq.InputError, match=f"intruder '{asked}' cannot be used: .*{why}"):
        assert eq.assess(people, technique, intruder=asked).summary


def test_another_reading_of_the_file_may_be_certain_about_more_people():
    """Noise moves some shown keys onto real ones: exact matching is then certain, and sometimes right."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 240),
            "job": rng.integers(0, 6, 240),
            "pay": rng.integers(1, 40, 240) * 10,
        }
    )
    people = eq.Microdata(frame, confidential="pay", keys=["age", "job"])
    release = eq.NoiseAddition(5).release(people, 3)
    classes, prior = people.classes(None), np.full(len(people.values), 1 / len(people.values))
    exact = release.reading.exact(classes).probabilities
    row, value = classes.of_record, people.codes
    certain = np.asarray(exact[row, value]).ravel() == 1.0
    truth = eq.assess(people, release, prior=prior, intruder="file").summary["truth"]
    assert certain.sum() > 0
    assert truth["certain_right"] >= certain.sum()
    strongest = eq.assess(people, release, prior=prior).summary["truth"]
    assert strongest["certain_right"] >= certain.sum()


def test_the_largest_risks_are_named(people):
    """Half of the values are wrong: somebody who believes all of them is certain about many, and right about half."""
    result = eq.assess(people, eq.Swapping(rate=0.5), known=["age"], eps=[10])
    truth = result.summary["truth"]
    alone = {
        name: eq.assess(people, eq.Swapping(rate=0.5), intruder=name, eps=[10]).summary["truth"]
        for name in result.intruders["intruder"]
    }
    for figure in ("certain_right", "below_half_bit"):
        assert truth[figure] == max(each[figure] for each in alone.values())
        assert alone[truth["intruders"][figure]][figure] == truth[figure]
    for eps in (0.0, 10.0):
        most = max(each["true_hit"].get(eps, 0.0) for each in alone.values())
        assert truth["true_hit"].get(eps, most) == pytest.approx(most)
    assert truth["surprise"][0.0] <= min(each["surprise"][0.0] for each in alone.values()) + 0.015
    assert truth["certain_wrong"] == alone[truth["intruders"]["certain_right"]]["certain_wrong"]
