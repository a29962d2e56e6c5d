"""Files of unknown origin: what the intruders make of them, compared with those who know how the file was made."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.errors import InputError
from equivoc.intruder.prior import marginal
from equivoc.intruder.strengths import against_truth
from equivoc.releases import file_reading
from equivoc.releases import file_reading as unknown_mechanism
from equivoc.releases.file_reading import UnknownMechanism
from equivoc.releases.fixed_matching import level_bins, level_chances, members
from equivoc.techniques.technique import Technique

THREE = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def people() -> eq.Microdata:
    return eq.datasets.people("cps_hourly_workers")


def surprise(release, people: eq.Microdata, known: list[str], intruder: str) -> float:
    prior = marginal(people)
    return against_truth(release.believed(people.classes(known), prior, intruder), prior).surprise


def written_and_shuffled(technique: Technique, people: eq.Microdata):
    release = technique.release(people, 0)
    return release, release.table.sample(frac=1, random_state=1)


@pytest.mark.parametrize(
    "technique", [eq.Generalisation(k=5), eq.Suppression(k=5)], ids=lambda technique: technique.notation
)
def test_our_own_files_tell_as_much_as_the_techniques_own_release(technique, people, tmp_path):
    release, table = written_and_shuffled(technique, people)
    table.to_csv(tmp_path / "released.csv", index=False)
    read = eq.ReleasedFile(tmp_path / "released.csv").release(people)
    for known in (THREE, list(people.keys)):
        own = surprise(release, people, known, "informed")
        assert surprise(read, people, known, "informed") == pytest.approx(own, abs=0.1)
        assert surprise(read, people, known, "register") < own + 0.1


@pytest.mark.parametrize(
    "technique",
    [
        eq.NoiseAddition(percent=20),
        eq.NoiseAddition(percent=10, edge="extend"),
        eq.PRAM(keep=0.7, on="all"),
        eq.Generalisation(k=5),
        eq.Suppression(k=5),
        eq.Swapping(rate=0.3, on="keys"),
        eq.Microaggregation(size=3, on="age+weeks_worked"),
        eq.Rounding(base=5),
    ],
    ids=lambda technique: technique.notation,
)
def test_a_stated_channel_is_the_techniques_own_intruder(technique, people, tmp_path):
    release, table = written_and_shuffled(technique, people)
    table.to_csv(tmp_path / "released.csv", index=False)
    stated = eq.ReleasedFile(tmp_path / "released.csv", channel=technique).release(people)
    prior = marginal(people)
    for known in (["sex"], THREE, list(people.keys)):
        classes = people.classes(known)
        one, two = (each.believed(classes, prior, "informed") for each in (release, stated))
        np.testing.assert_allclose(two.probabilities, one.probabilities, atol=1e-9)
    if not release.left_out(people.classes(THREE)).get("register"):
        assert surprise(stated, people, THREE, "register") == pytest.approx(
            surprise(release, people, THREE, "register"), abs=1e-3
        )
    assert "She knows" in stated.assumption


def test_a_noisy_file_needs_the_channel(people):
    technique = eq.NoiseAddition(percent=20)
    release, table = written_and_shuffled(technique, people)
    own = surprise(release, people, list(people.keys), "informed")
    unstated = eq.ReleasedFile(table).release(people)
    assert surprise(unstated, people, list(people.keys), "informed") > own + 0.5


def test_a_channel_on_the_confidential_value_alone_ignores_the_order_of_records(people):
    """No known key was changed: records are counted by the file's keys, not by their position."""
    technique = eq.PRAM(keep=0.6, on="confidential")
    release, table = written_and_shuffled(technique, people)
    stated = eq.ReleasedFile(table, channel=technique).release(people)
    prior = marginal(people)
    classes = people.classes(THREE)
    one, two = (each.believed(classes, prior, "informed") for each in (release, stated))
    np.testing.assert_allclose(two.probabilities, one.probabilities, atol=1e-9)


def test_people_without_a_record_in_a_stated_file_have_the_prior(people):
    technique = eq.PRAM(keep=0.6, on="confidential")
    table = technique.release(people, 0).table
    stated = eq.ReleasedFile(table[table["sex"] == table["sex"].iloc[0]], channel=technique).release(people)
    prior = marginal(people)
    rows = stated.believed(people.classes(["sex"]), prior, "informed").probabilities
    assert sorted(np.abs(rows - prior).max(axis=1) < 1e-12) == [False, True]


def test_a_stated_channel_must_be_possible(people):
    table = eq.Unprotected().release(people).table
    with pytest.raises(InputError, match=r"never shows the age 1000"):
        eq.ReleasedFile(table.assign(age=1000), channel=eq.NoiseAddition(percent=20)).release(people)
    with pytest.raises(InputError, match="does not change records value by value"):
        eq.ReleasedFile(table, channel=eq.Sampling(0.5)).release(people)
    with pytest.raises(InputError, match="matching or channel, not both"):
        eq.ReleasedFile(table, matching="exact", channel=eq.NoiseAddition(percent=20))
    with pytest.raises(InputError, match="give a technique"):
        eq.ReleasedFile(table, channel=3)
    with pytest.raises(InputError, match="no technique 'noise'"):
        eq.ReleasedFile(table, channel="noise:percent=20")
    stated = eq.ReleasedFile(table, channel=eq.NoiseAddition(percent=20))
    with pytest.raises(InputError, match="control group cannot be assessed with a stated channel"):
        _ = eq.assess(people, stated, known=["sex"], control=table).summary


@pytest.mark.parametrize("known", [THREE, None])
def test_a_file_that_tells_nothing_is_not_trusted(known, people):
    table = eq.Unprotected().release(people).table
    pay = np.random.default_rng(5).permutation(table[people.confidential].to_numpy())
    found = eq.assess(people, eq.ReleasedFile(table.assign(**{people.confidential: pay})), known=known)
    truth = found.truth.facts
    assert truth["trust"] < 0.03
    assert truth["gain"] < 0.01
    assert truth["below_half_bit"] == truth["gated"]["below_half_bit"] == 0.0


def test_classes_that_nothing_fits_have_the_prior():
    frame = pd.DataFrame({"job": ["cook", "judge", "judge"], "sex": list("FFM"), "pay": [10, 20, 20]})
    people = eq.Microdata(frame, confidential="pay", keys=["job", "sex"])
    synthetic = pd.DataFrame({"job": ["cook", "cook", "judge"], "sex": list("FFM"), "pay": [10, 20, 10]})
    release = eq.ReleasedFile(synthetic).release(people)
    prior = np.array([0.1, 0.9])
    classes = people.classes(["job", "sex"])
    lost = int(classes.of_record[1])
    for method in ("fits", "fits, with N"):
        assert release.reading._by(method, classes, prior).probabilities[lost] == pytest.approx(prior)
    assert release.of_classes(classes).probabilities[lost] == pytest.approx([2 / 3, 1 / 3])


def test_ranges_and_missing_values_are_read_with_the_prior():
    frame = pd.DataFrame({"sex": list("FFFM"), "pay": [10, 20, 30, 60]})
    people = eq.Microdata(frame, confidential="pay", keys=["sex"])
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    for written, expected in {"[20,30]": [0, 0.4, 0.6, 0], "*": prior, "60": [0, 0, 0, 1]}.items():
        released = pd.DataFrame({"sex": ["F", "M"], "pay": [written, written]})
        found = (
            eq.ReleasedFile(released).release(people).posteriors(["sex"], prior=prior, intruder="informed")
        )
        assert found.probabilities == pytest.approx(np.array([expected, expected]))


def test_a_given_matching_is_the_only_intruder(people):
    table = eq.Generalisation(k=5).release(people).table
    release = eq.ReleasedFile(table, matching="nearest").release(people)
    choice = release.choice(people.classes(THREE), marginal(people))
    assert release.fixed
    assert choice.used.intruder == "own"
    free = eq.ReleasedFile(table).release(people).choice(people.classes(THREE), marginal(people))
    assert {each.intruder for each in free.tried} == {"informed", "register", "paper", "plain"}
    assert {"learned", "file"} <= set(free.left_out)  # every intruder reads it as a file of unknown origin


def test_what_is_not_tried_is_said(people, monkeypatch):
    release = eq.ReleasedFile(eq.Generalisation(k=5).release(people).table).release(people)
    within = UnknownMechanism.too_large
    monkeypatch.setattr(
        UnknownMechanism, "too_large", lambda self, classes, most=1000: within(self, classes, 1000)
    )
    monkeypatch.setattr(unknown_mechanism, "match_tables", None)
    monkeypatch.setattr(unknown_mechanism, "informed_linkage", None)
    choice = release.choice(people.classes(THREE), marginal(people))
    assert [each.intruder for each in choice.tried] == ["informed", "paper", "plain"]
    assert choice.left_out["matching by distance"].endswith("only records that fit exactly are used")
    assert "pairs of a class and a record" in choice.left_out["register"]


def test_a_register_asked_for_by_name_is_used_above_the_limit(people, monkeypatch):
    monkeypatch.setattr(file_reading, "MOST_PEOPLE", 1000)
    release = eq.ReleasedFile(eq.Generalisation(k=5).release(people).table).release(people)
    choice = release.choice(people.classes(THREE), marginal(people))
    assert choice.left_out["register"] == "a file has more than 1,000 records; select this intruder to use it"
    named = release.choice(people.classes(THREE), marginal(people), "register")
    assert [each.intruder for each in named.tried] == ["register"]


def test_results_of_em_that_are_the_same_are_tried_once(people, monkeypatch):
    table = eq.NoiseAddition(percent=20).release(people, 0).table
    unknown = eq.ReleasedFile(table).release(people).reading.unknown
    assert len(unknown.near) == 1
    monkeypatch.setattr(unknown_mechanism, "SAME", 0.0)
    assert set(eq.ReleasedFile(table).release(people).reading.unknown.near) == {"near, 0.6", "near, 0.999"}


def test_other_people_are_looked_up_by_the_same_method(people):
    """People who share everybody's keys are believed the same; other numbers are the nearest ones."""
    table = eq.NoiseAddition(percent=5).release(people, 0).table
    release = eq.ReleasedFile(table).release(people)
    prior = marginal(people)
    frame = eq.Unprotected().release(people).table
    same = eq.Microdata(frame, confidential=people.confidential, keys=list(people.keys))
    own = release.believed(people.classes(THREE), prior, "informed").probabilities
    others = release.of_others(same.classes(THREE), prior, "informed").probabilities
    np.testing.assert_allclose(others, own, atol=1e-12)
    older = eq.Microdata(frame.assign(age=1000), confidential=people.confidential, keys=list(people.keys))
    oldest = eq.Microdata(
        frame.assign(age=frame["age"].max()), confidential=people.confidential, keys=list(people.keys)
    )
    first, second = (release.of_others(each.classes(THREE), prior, "informed") for each in (older, oldest))
    np.testing.assert_allclose(first.probabilities, second.probabilities, atol=1e-12)


def test_other_people_are_looked_up_in_ranges_without_n():
    """N is the number of people in the data: it says nothing about others, who may have values in between."""
    frame = pd.DataFrame({"age": [20, 20, 29, 31, 39, 35], "pay": [10, 20, 20, 30, 40, 30]})
    people = eq.Microdata(frame, confidential="pay", keys=["age"])
    ranges = frame.assign(age=["20", "20", "[20,30)", "[30,40)", "[30,40)", "[30,40)"])
    release = eq.ReleasedFile(ranges).release(people)
    others = eq.Microdata(
        pd.DataFrame({"age": [25, 37, 50], "pay": [10, 20, 20]}), confidential="pay", keys=["age"]
    )
    prior = marginal(people)
    found = release.of_others(others.classes(["age"]), prior, "informed").probabilities
    assert found == pytest.approx(np.array([[0, 1, 0, 0], [0, 0, 2 / 3, 1 / 3], prior]))


def test_a_category_of_other_people_agrees_with_no_record():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"job": rng.choice(list("abcd"), 400), "age": rng.integers(20, 60, 400)})
    frame["pay"] = frame["job"].map(dict(zip("abcd", (10, 20, 30, 40), strict=True)))
    people = eq.Microdata(frame, confidential="pay", keys=["job", "age"])
    release = eq.ReleasedFile(frame).release(people)
    stranger = eq.Microdata(
        pd.DataFrame({"job": ["zz"], "age": [30], "pay": [10]}), confidential="pay", keys=["job", "age"]
    )
    found = release.reading._by(
        release.reading.unknown.near[0], stranger.classes(["job", "age"]), marginal(people)
    )
    of_that_age = frame["pay"][frame["age"] == 30]
    expected = [(of_that_age == value).mean() for value in people.values]
    assert found.probabilities[0] == pytest.approx(expected, abs=0.02)


def symbols(released: list, original: list):
    people = eq.Microdata(
        pd.DataFrame({"key": original, "pay": range(len(original))}), confidential="pay", keys=["key"]
    )
    frame = pd.DataFrame({"key": released, "pay": [0] * len(released)}, dtype=object)
    return eq.ReleasedFile(frame).release(people).keys["key"]


def test_a_star_stands_for_what_the_other_records_leave_over():
    key = symbols(["20", "20", "30", "*", "*", "*"], [20, 20, 20, 30, 30, 40])
    chances = dict(zip(key.labels.to_pylist(), level_chances(key, np.array([3.0, 2.0, 1.0])), strict=True))
    assert chances["20"] == pytest.approx([1, 0, 0])
    assert chances["*"] == pytest.approx([1 / 3] * 3, abs=1e-6)


def test_members_and_distances():
    key = symbols(["20-30", "35", "{20,40}"], [20, 30, 40, 50])
    tables = {}
    for name, table in (("members", members(key, key.line.at)), ("bins", level_bins(key))):
        tables[name] = dict(zip(key.labels.to_pylist(), table.tolist(), strict=True))
    assert tables["members"] == {
        "20-30": [True, True, False, False],
        "35": [False] * 4,
        "{20,40}": [True, False, True, False],
    }
    assert tables["bins"] == {"20-30": [0, 0, 1, 2], "35": [1, 0, 0, 1], "{20,40}": [0, 1, 0, 1]}
