"""Microaggregation of values as real files have them: released quickly, and assessed whatever their grid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.channels.channel import Computed
from equivoc.intruder.prior import marginal
from equivoc.intruder.strengths import against_truth
from tests.sweeps import spread

PEOPLE = 400


def _values():
    rng = np.random.default_rng(11)
    pay = np.exp(rng.normal(10, 1, PEOPLE))
    return {
        "cents": pay.round(2),
        "675,472 steps": np.append(rng.integers(0, 675_473, PEOPLE - 2), [0, 675_472]),
        "one huge outlier": np.append(pay[1:].round(), 1e12),
        "negative": (rng.standard_t(2, PEOPLE) * 1e4).round(2),
        "12 decimals": rng.normal(size=PEOPLE).round(12),
        "many equal": np.where(rng.random(PEOPLE) < 0.6, 0.0, pay.round(2)),
    }


VALUES = _values()


def people_with(values):
    rng = np.random.default_rng(5)
    count = len(values)
    keys = {"age": rng.integers(20, 60, count), "sex": rng.choice(["F", "M"], count)}
    return eq.Microdata(pd.DataFrame({**keys, "pay": values}), confidential="pay", keys=["age", "sex"])


def both(people, release):
    """Who knows the technique, and who takes the values of the same table at their word, all keys known."""
    classes, prior = people.classes(None), marginal(people)
    informed = against_truth(release.believed(classes, prior, "informed"), prior)
    at_their_word = eq.ReleasedFile(release.table).release(people).believed(classes, prior, "informed")
    return informed, against_truth(at_their_word, prior)


@pytest.mark.parametrize(("name", "method"), spread(VALUES, ["optimal", "mdav", "fast"]))
def test_released_and_assessed(name, method):
    people = people_with(VALUES[name])
    release = eq.Microaggregation(size=3, method=method).release(people)
    means = pd.Series(VALUES[name]).groupby(release.group).transform("mean")
    np.testing.assert_allclose(release.table["pay"], means, rtol=1e-12, atol=1e-12)
    for post in (release.posteriors(intruder="informed"), release.posteriors(["age"], intruder="paper")):
        found = post.probabilities
        np.testing.assert_allclose(np.asarray(found.sum(axis=1)).ravel(), 1)
    informed, plain = both(people, release)
    assert informed.trust > 0.95  # the truth is never ruled out by rounding
    assert informed.surprise < plain.surprise - 1


@pytest.mark.parametrize("name", VALUES)
def test_several_columns_with_a_key(name):
    people = people_with(VALUES[name])
    release = eq.Microaggregation(size=4, on="age+pay").release(people)
    informed, plain = both(people, release)
    assert informed.surprise < plain.surprise + 0.05
    assert informed.gain > 0.05


def test_every_intruder_by_name():
    people = people_with(VALUES["cents"])
    for intruder in ("sum", "order"):
        result = eq.assess(people, eq.Microaggregation(size=3, belief=intruder), known=["age"])
        assert any("on no even grid, or on one of too many steps" in note for note in result.release.notes())


def test_the_note_is_there_only_where_values_are_moved():
    assert eq.Microaggregation(size=3).release(people_with(np.arange(PEOPLE) // 2)).notes() == []
    (note,) = eq.Microaggregation(size=3).release(people_with(VALUES["12 decimals"])).notes()
    assert "The values of pay lie on no even grid" in note
    assert "moved to the nearest of" in note


@pytest.mark.parametrize("on", ["pay", "age+pay", "age"])
def test_a_release_is_made_without_any_posterior(on, monkeypatch):
    """Also where it takes long: nothing of the intruder is computed before she is asked for."""

    def never(*arguments):
        raise AssertionError

    from equivoc.techniques.inside import group_intruders as near_the_mean
    from equivoc.techniques.inside import local_intruder as channels

    for kind in (
        channels.GroupSums,
        channels.GroupsInOrder,
        channels.NearGroupsInOrder,
        channels.SumsNearMeans,
    ):
        assert issubclass(kind, Computed)
        monkeypatch.setattr(kind, "table", never)
    monkeypatch.setattr(near_the_mean, "near_the_mean", never)
    for values in VALUES.values():
        release = eq.Microaggregation(size=3, on=on).release(people_with(values))
        assert len(release.table) == PEOPLE


@pytest.mark.parametrize("method", ["mdav", "fast"])
def test_one_column_is_as_risky_by_every_method(method):
    """Heavy-tailed incomes, two known keys: the optimal groups differ from MDAV's hardly, and so must the figures."""
    rng = np.random.default_rng(0)
    people = people_with((np.exp(rng.normal(10.3, 0.8, 1_000)) / 100).round() * 100)
    gains = {}
    for each in ("optimal", method):
        truth = eq.assess(people, eq.Microaggregation(size=3, method=each)).summary["truth"]
        gains[each] = truth["gain"]
    assert gains["optimal"] > 2
    assert gains[method] > gains["optimal"] - 0.4
