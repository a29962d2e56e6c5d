"""The control group: figures for people who are not in the data, compared with those who are."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.assessment.control_group import NORMAL_95, interval

PEOPLE = pd.DataFrame(
    {
        "age": [20, 21, 22, 30, 31, 40],
        "job": ["cook", "cook", "judge", "judge", None, "cook"],
        "pay": [10, 20, 20, 30, 30, 50],
    }
)
OTHERS = pd.DataFrame(
    {
        "age": [20, 25, 31, 70, 25],
        "job": ["cook", "pilot", None, "judge", "cook"],
        "pay": [10, 20, 44, 10, 90],
    }
)
RELEASED = pd.DataFrame(
    {
        "age": ["[20,30)", "[20,30)", "25", "30", "31", "40"],
        "job": ["cook", "cook", "judge", "judge", None, "*"],
        "pay": [10, 20, 20, 30, 30, 50],
    }
)


FLAT = np.full(4, 1 / 4)


def people(frame: pd.DataFrame = PEOPLE) -> eq.Microdata:
    return eq.Microdata(frame, confidential="pay", keys=["age", "job"])


# By hand: with nobody of exactly that age and job, the file's own distribution; else the records that fit.
WHOLE = [1 / 6, 2 / 6, 2 / 6, 1 / 6]
HALF = [0.5, 0.5, 0, 0]
FLAT = np.full(4, 0.25)
EXACT = {
    (20, "cook"): HALF,
    (25, "cook"): HALF,
    (25, "pilot"): WHOLE,
    (31, None): [0, 0, 1, 0],
    (70, "judge"): WHOLE,
}


def test_beliefs_about_others_are_those_about_people_alike() -> None:
    mine, others = people(), people(OTHERS)
    release = eq.ReleasedFile(RELEASED).release(mine)
    post = release.of_others(others.classes(["age", "job"]), FLAT, "paper")
    for codes, row in zip(post.classes.key_codes, post.probabilities, strict=True):
        value = (others.levels("age")[codes[0]], others.levels("job")[codes[1]])
        assert row == pytest.approx(EXACT[value]), value


@pytest.mark.parametrize("matching", ["exact", "nearest", "probable"])
def test_a_control_group_of_the_people_themselves_learns_nothing_beyond(matching: str) -> None:
    mine = people()
    told = eq.assess(
        mine, eq.ReleasedFile(RELEASED, matching=matching), known=["age", "job"], eps=[0, 20], control=PEOPLE
    ).summary
    control = told["control"]
    assert control["beyond"]["surprise"] == pytest.approx(0, abs=1e-12)
    assert control["beyond"]["truth"] == pytest.approx(0, abs=1e-12)
    assert control["true_hit"] == told["per_record"]["true_hit"]
    for name in ("h0", "area", "mean_entropy"):
        assert control[name] == pytest.approx(told["per_record"][name]["mean"])


def test_the_figures_by_hand() -> None:
    result = eq.assess(
        people(),
        eq.ReleasedFile(RELEASED),
        known=["age", "job"],
        eps=[0, 20],
        control=OTHERS,
        intruder="paper",
    )
    told, trust = result.summary["control"], result.truth.overall.trust
    beliefs = [EXACT[key] for key in [(20, "cook"), (25, "pilot"), (31, None), (70, "judge"), (25, "cook")]]
    # 44 counts as 50, the nearest value that anyone in the data has, and 90 as well.
    given = [b[i] for b, i in zip(beliefs, [0, 1, 3, 0, 3], strict=True)]
    assert told["records"] == 5
    assert told["truth"] == pytest.approx(np.mean(given))
    # The people's trust, but at least a doubt of 1 in 7 for six people; the prior is the distribution among them.
    doubt = max(1 - trust, 1 / 7)
    surprise = [
        -math.log2((1 - doubt) * p + doubt * WHOLE[i]) for p, i in zip(given, [0, 1, 3, 0, 3], strict=True)
    ]
    assert told["surprise"] == pytest.approx(np.mean(surprise))
    entropies = [eq.curve([10, 20, 30, 50], belief).h0 for belief in beliefs]
    assert told["h0"] == pytest.approx(np.mean(entropies))
    # Within 20: 10–20 for cooks, 10–30 for the whole file (5/6 of it), 30 alone.
    assert told["true_hit"][20.0] == pytest.approx(np.mean([True, True, False, True, False]))
    mine = told["people"]
    own = [0.5, 0.5, 2 / 6, 1, 1, 1]
    assert mine["truth"] == pytest.approx(np.mean(own))
    assert told["beyond"]["truth"] == pytest.approx(np.mean(own) - np.mean(given))
    assert told["beyond"]["surprise"] == pytest.approx(told["surprise"] - mine["surprise"])


def test_nearest_reaches_people_beyond_the_original() -> None:
    release = eq.ReleasedFile(RELEASED, matching="nearest").release(people())
    others = people(OTHERS)
    post = release.of_others(others.classes(["age"]), FLAT, "paper")
    ages = [others.levels("age")[code] for code in post.classes.key_codes[:, 0]]
    believed = dict(zip(ages, post.probabilities.tolist(), strict=True))
    # 70 is nearest to 40. 25 is in [20,30), though nobody in the original is that old, and at the record 25; the
    # range has three of the original's ages, so its records count a third.
    assert believed[70] == [0, 0, 0, 1]
    assert believed[25] == pytest.approx([1 / 5, 4 / 5, 0, 0])


def test_synthetic_data_that_copy_people_are_told_from_those_that_do_not() -> None:
    """Copies of the people tell much more about them than about others; a fresh draw tells as much about both."""
    rng = np.random.default_rng(0)

    def drawn(count: int) -> pd.DataFrame:
        group = rng.integers(0, 40, count)
        return pd.DataFrame({"group": group, "pay": 10 * (group % 5 + rng.integers(0, 8, count))})

    mine, others, fresh = drawn(300), drawn(300), drawn(3000)
    original = eq.Microdata(mine, confidential="pay", keys=["group"], domain=range(0, 120, 10))

    def further(table: pd.DataFrame) -> float:
        result = eq.assess(original, eq.ReleasedFile(table), known=["group"], control=others)
        return result.summary["control"]["beyond"]["surprise"]

    assert further(mine) > 0.5
    assert abs(further(fresh)) < 0.2


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (OTHERS.drop(columns="job"), "the control group cannot be used: the key 'job' is not a column"),
        (OTHERS.drop(columns="pay"), "the confidential column 'pay' is not a column"),
        (OTHERS.iloc[:0], "the table has no records"),
        ("nobody.csv", "there is no file nobody.csv"),
        (
            eq.Microdata(OTHERS, confidential="age", keys=["job"]),
            "its confidential column is 'age', not 'pay'",
        ),
        (eq.Microdata(OTHERS, confidential="pay", keys=["job"]), "it lacks the key 'age'"),
    ],
)
def test_a_control_group_that_cannot_be_used(control: object, said: str) -> None:
    with pytest.raises(eq.InputError, match=said):
        eq.assess(people(), eq.ReleasedFile(RELEASED), known=["age"], control=control)


def test_other_types_and_other_releases() -> None:
    words = OTHERS.assign(age=["a", "b", "c", "d", "e"])
    with pytest.raises(
        eq.InputError, match=r"the key 'age' holds .*string values where the original has numbers"
    ):
        _ = eq.assess(people(), eq.ReleasedFile(RELEASED), known=["age"], control=words).summary
    with pytest.raises(eq.InputError, match="only with a released file: give the released table"):
        _ = eq.assess(people(), eq.Unprotected(), known=["age"], control=OTHERS).summary


@pytest.mark.parametrize("domain", [None, range(10, 60, 10)])
def test_a_control_group_is_rounded_as_the_people_are(domain) -> None:
    """With the people themselves as control group all differences are 0, also after rounding."""
    frame = PEOPLE.assign(pay=PEOPLE.pay + np.array([3, -4, 1, 2, -2, 0]))
    mine = eq.Microdata(frame, confidential="pay", keys=["age", "job"], round_to=10, domain=domain)
    released = eq.ReleasedFile(RELEASED)
    for control in (frame, mine):
        told = eq.assess(mine, released, known=["age", "job"], eps=[0, 20], control=control).summary[
            "control"
        ]
        assert told["beyond"] == {"true_hit": {0.0: 0, 20.0: 0}, "truth": 0, "surprise": 0}
    unrounded = eq.Microdata(frame, confidential="pay", keys=["age", "job"])
    with pytest.raises(eq.InputError, match="read it with round_to=10"):
        eq.assess(mine, released, control=unrounded)


def test_a_control_group_with_missing_values_is_read_as_the_people_were() -> None:
    frame = PEOPLE.assign(pay=[10, 20, None, 30, 30, 50])
    mine = eq.Microdata(frame, confidential="pay", keys=["age", "job"], drop_missing=True)
    told = eq.assess(mine, eq.ReleasedFile(RELEASED), control=frame).summary["control"]
    assert told["records"] == 5
    assert told["beyond"]["truth"] == 0


def test_a_release_without_linkage_to_others_is_refused_at_once() -> None:
    with pytest.raises(eq.InputError, match="a control group can be assessed only with a released file"):
        eq.assess(people(), eq.Sampling(fraction=0.5), control=OTHERS)


def test_a_category_that_nobody_in_the_data_has_is_as_unlikely_as_can_be() -> None:
    frame = pd.DataFrame({"sex": list("FFMM"), "job": ["cook", "cook", "judge", "cook"]})
    mine = eq.Microdata(frame, confidential="job", keys=["sex"])
    other = pd.DataFrame({"sex": ["F"], "job": ["pilot"]})
    told = eq.assess(mine, eq.ReleasedFile(frame), control=other).summary["control"]
    # The trust is full, so the doubt is 1/(4 + 1); a value that the prior rules out has 1/(5 · 2).
    assert told["surprise"] == pytest.approx(-math.log2(1 / 5 * 1 / 10))


def drawn_groups(rng: np.random.Generator, shift: float) -> tuple[float, float]:
    """The interval for figures that depend on the class, of 400 people and 300 others from the same population."""
    classes = 60
    level = rng.normal(0, 1, classes)
    groups = []
    for many, moved in ((400, shift), (300, 0.0)):
        cluster = rng.integers(0, classes, many)
        figures = level[cluster] + moved + rng.exponential(1.0, many)
        groups.append((figures, np.ones(many), cluster))
    return interval(*groups)


def test_the_interval_covers_no_difference_in_19_of_20_draws() -> None:
    rng = np.random.default_rng(5)
    low, high = np.array([drawn_groups(rng, 0.0) for _ in range(2000)]).T
    assert 0.935 <= np.mean((low <= 0) & (high >= 0)) <= 0.965
    low, _ = np.array([drawn_groups(rng, 0.5) for _ in range(200)]).T
    assert np.mean(low > 0) > 0.9  # a difference that is there is found


def test_people_of_a_class_who_are_right_together_count_once() -> None:
    """A shock for each class of one group only, as when the release copies some classes: clustering is needed."""
    rng = np.random.default_rng(6)
    covered, naive = [], []
    for _ in range(1000):
        cluster = rng.integers(0, 40, 800)
        shock = rng.normal(0, 1, 40)[cluster]
        others = rng.integers(40, 80, 800)
        mine = (shock + rng.normal(0, 0.3, 800), np.ones(800), cluster)
        theirs = (rng.normal(0, 1, 80)[others], np.ones(800), others)
        low, high = interval(mine, theirs)
        covered.append(low <= 0 <= high)
        alone = NORMAL_95 * np.sqrt(mine[0].var() / 800 + theirs[0].var() / 800)
        naive.append(abs((low + high) / 2) <= alone)
    assert np.mean(covered) > 0.91
    assert np.mean(naive) < 0.5


def test_a_release_independent_of_both_groups_is_covered() -> None:
    """Whole assessments: a synthetic file drawn from the population says as much about the people as about others."""
    rng = np.random.default_rng(7)

    def drawn(count: int) -> pd.DataFrame:
        group = rng.integers(0, 30, count)
        return pd.DataFrame({"group": group, "pay": group % 3 + rng.integers(0, 4, count)})

    covered = []
    for _ in range(60):
        mine = eq.Microdata(drawn(150), confidential="pay", keys=["group"], domain=range(6))
        result = eq.assess(
            mine, eq.ReleasedFile(drawn(400)), control=drawn(150), intruder="paper", eps=[0, 2]
        )
        found = result.summary["control"]["interval"]
        covered.append(
            [low <= 0 <= high for low, high in (found["surprise"], found["true_hit"][2.0], found["truth"])]
        )
    assert np.mean(covered, axis=0).min() >= 0.85  # 95 % of 60 draws: fewer than 51 is a chance of 1 in 700
