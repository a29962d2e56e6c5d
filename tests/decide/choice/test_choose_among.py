"""The best of several techniques by the loss of utility."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import equivoc as eq
from equivoc.information_loss.utility import losses, overall
from tests.decide.choice.test_choose import random_people

TEXTS = ("noise-addition:percent=1..60", "sampling:fraction=0.1..0.9..0.05", "swapping:rate=0.05..1..0.05")


@pytest.mark.parametrize("seed", range(3))
def test_the_least_loss_of_the_mildest_is_chosen(seed: int) -> None:
    people = random_people(seed)
    done = eq.choose_among(people, TEXTS, require=["h0 >= 2"], intruder="informed", seed=1, replicates=2)
    alone = [
        eq.choose(people, text, require=["h0 >= 2"], intruder="informed", seed=1, replicates=2)
        for text in TEXTS
    ]
    assert [choice.technique for choice in done.choices] == [choice.technique for choice in alone]
    lost = []
    for choice in alone:
        releases = [choice.technique.release(people, each) for each in (1, 2)]
        lost.append(np.mean([overall(losses(people, each, seed=1))["query_error"] for each in releases]))
    assert list(done.losses) == pytest.approx(lost)
    assert done.technique == alone[int(np.argmin(lost))].technique
    assert done.frame["best"].tolist() == [place == int(np.argmin(lost)) for place in range(3)]
    assert done.assessments == sum(choice.assessments for choice in alone)


def test_a_technique_that_fails_is_left_out() -> None:
    people = random_people(1)
    done = eq.choose_among(
        people, ["noise-addition:percent=1..2", *TEXTS[1:]], require=["h0 >= 2.7"], intruder="informed"
    )
    assert done.choices[0].technique is None
    assert done.losses[0] is None
    assert done.best in done.choices[1:]


def test_two_settings_that_lose_all_but_the_same_cannot_be_told_apart() -> None:
    people = random_people(2)
    close = ["swapping:rate=0.5..0.9..0.4", "swapping:rate=0.52..0.9..0.38"]
    done = eq.choose_among(people, close, require=["h0 >= 0.01"], intruder="informed", seed=3)
    lost = [
        [
            overall(losses(people, technique.release(people, seed), seed=3))["query_error"]
            for seed in range(3, 8)
        ]
        for technique in (choice.technique for choice in done.choices)
    ]
    assert list(done.losses) == pytest.approx(np.mean(lost, axis=1))
    spread = [stats.t.interval(0.95, 4, loc=np.mean(each), scale=stats.sem(each)) for each in lost]
    (other,) = done.tied
    first = int(np.argmin(done.losses))
    assert done.choices[1 - first] is other
    assert spread[1 - first][0] <= spread[first][1]
    assert "These draws cannot tell it apart from swapping" in done.note
    assert done.frame["tied"].tolist() == [choice is other for choice in done.choices]


def test_one_that_loses_far_less_is_the_best() -> None:
    done = eq.choose_among(
        random_people(2),
        ["swapping:rate=0.05..0.1..0.05", "noise-addition:percent=90..95"],
        require=["h0 >= 0.01"],
        intruder="informed",
    )
    assert (done.best, done.tied, done.note) == (done.choices[0], (), "")


def test_none_meets() -> None:
    done = eq.choose_among(
        random_people(1),
        ["noise-addition:percent=1..2", "sampling:fraction=0.7..0.9"],
        require=["h0 >= 4"],
        intruder="informed",
    )
    assert done.best is None
    assert done.technique is None
    missed = [choice.strongest.missed for choice in done.choices]
    assert done.closest is done.choices[int(np.argmin(missed))]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"techniques": []}, "at least one technique"),
        ({"techniques": "sampling"}, "give a list"),
        ({"techniques": ["sampling"], "utility": "beauty"}, "utility is 'beauty'"),
        ({"techniques": ["sampling", "noise-addition:percent=5..1"]}, "low must not be above high"),
    ],
)
def test_mistakes(given: dict[str, object], told: str) -> None:
    with pytest.raises(eq.InputError, match=told):
        eq.choose_among(random_people(0), require=["h0 >= 1"], **given)  # type: ignore[arg-type]
