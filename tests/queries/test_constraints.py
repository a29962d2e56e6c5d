"""Answered questions as constraints in whole steps: rounding, duplicates, impossible answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.systems.constraints import answer_grid, answer_system
from equivoc.systems.system import AGGREGATES, Aggregate, ContradictionError, Question
from tests.queries.bounds.enumeration import answer, databases

DOMAIN = np.arange(10, 251)


def asked(aggregate: Aggregate, members: list[int], known: float | None, statement: int = 0) -> Question:
    text = f"{aggregate.upper()}(salary) WHERE person IN {members}"
    return Question(aggregate, np.array(members, dtype=np.int64), known, statement=statement, text=text)


def test_sum_and_average_over_the_same_people_are_one_row() -> None:
    questions = [asked("sum", [0, 1], 157), asked("avg", [0, 1], 78.5, 1), asked("count", [0, 1], 2, 2)]
    system = answer_system(questions, values=DOMAIN, people=4)
    np.testing.assert_array_equal(system.matrix.toarray(), [[1, 0]])
    np.testing.assert_array_equal(system.totals, [137])
    np.testing.assert_array_equal(system.atoms.sizes, [2, 2])


def test_a_count_splits_no_atom_and_a_question_without_answer_does() -> None:
    counted = answer_system([asked("count", [0, 1], 2)], values=DOMAIN, people=4)
    assert len(counted.atoms) == 1
    assert counted.matrix.shape == (0, 1)
    open_ = answer_system([asked("sum", [0, 1], None)], values=DOMAIN, people=4)
    assert len(open_.atoms) == 2
    assert open_.matrix.shape == (0, 2)


@pytest.mark.parametrize(
    ("recorded", "truth", "total"),
    [
        (57.33, None, 172 - 30),  # the only whole sum within the digits
        (57.0, None, 171 - 30),  # three fit: the nearest
        (57.0, [57, 57, 58], 172 - 30),  # three fit: the true one
        (57.0, [90, 90, 90], 171 - 30),  # the true one does not fit: the nearest
    ],
)
def test_a_rounded_average_stands_for_a_whole_sum(
    recorded: float, truth: list[int] | None, total: int
) -> None:
    system = answer_system([asked("avg", [0, 1, 2], recorded)], values=DOMAIN, people=3, truth=truth)
    assert system.totals.tolist() == [total]


def test_two_rounded_answers_narrow_each_other() -> None:
    questions = [asked("avg", [0, 1, 2], 57), asked("avg", [0, 1, 2], 57.3, 1)]
    assert answer_system(questions, values=DOMAIN, people=3).totals.tolist() == [172 - 30]


@pytest.mark.parametrize("places", [2, 3, None])
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), step=st.sampled_from([0.1, 1.0, 2.5, 7.0]))
def test_the_true_numbers_are_assumed_however_answers_are_rounded(
    places: int | None, seed: int, step: float
) -> None:
    rng = np.random.default_rng(seed)
    positions = np.unique(np.concatenate([[0], rng.integers(0, 40, rng.integers(1, 30)), [40]]))
    values = np.round(-3 + positions * step, 6)
    people = int(rng.integers(2, 40))
    chosen = rng.integers(0, len(values), people)
    truth, x = values[chosen], positions[chosen]
    grid, _ = answer_grid(values, people=people)
    x = np.rint(x * step / grid.step).astype(np.int64)
    questions = []
    for aggregate in AGGREGATES:
        members = np.flatnonzero(rng.random(people) < 0.6)
        if len(members) < 2:
            continue
        known = float(answer(aggregate, truth[members]))
        known = known if places is None else round(known, places)
        questions.append(asked(aggregate, members.tolist(), known, len(questions)))
    system = answer_system(questions, values=values, people=people, truth=truth)
    for row, number in enumerate(system.row_question):
        assert system.totals[row] == x[questions[number].members].sum()
    for extreme in system.extremes:
        inside = x[questions[extreme.question].members]
        assert extreme.position == (inside.max() if extreme.kind == "max" else inside.min())
    for moment in system.moments:
        inside = x[questions[moment.question].members]
        m = len(inside)
        expected = (
            2 * np.median(inside) if moment.kind == "median" else m * np.sum(inside**2) - inside.sum() ** 2
        )
        assert moment.value == expected


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_computed_answer_can_be_read_without_the_truth(seed: int) -> None:
    """Unrounded answers of all aggregates name the true whole number also where the truth is not given."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice(60, rng.integers(2, 12), replace=False)) * 0.25
    truth = rng.choice(values, 9)
    questions = [
        asked(a, [0, 2, 3, 5, 8], float(answer(a, truth[[0, 2, 3, 5, 8]])), n)
        for n, a in enumerate(AGGREGATES)
    ]
    with_truth, without = (
        answer_system(questions, values=values, people=9, truth=known) for known in (truth, None)
    )
    assert with_truth.totals.tolist() == without.totals.tolist()
    assert [e.position for e in with_truth.extremes] == [e.position for e in without.extremes]
    assert [m.value for m in with_truth.moments] == [m.value for m in without.moments]


@pytest.mark.parametrize("aggregate", ["var_pop", "var_samp", "stddev_pop", "stddev_samp", "median"])
@pytest.mark.parametrize("people", [2, 3, 4])
def test_a_spread_or_median_that_some_database_has_is_never_refused(
    aggregate: Aggregate, people: int
) -> None:
    """Every figure of two decimals, against all databases; some figures are refused."""
    values = np.arange(4.0)
    found = np.round(answer(aggregate, databases(values, people)), 2)
    refused = 0
    for figure in np.round(np.arange(0, 3, 0.01), 2):
        question = [asked(aggregate, list(range(people)), float(figure))]
        some = bool(np.any(np.abs(found - figure) < 1e-9))
        try:
            answer_system(question, values=values, people=people)
            read = True
        except InputError:
            read = False
        assert read or not some
        refused += not read
    assert refused > 50


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            asked("avg", [0, 1, 2], 57.35, 4),
            "statement 5, AVG.*57.35 cannot be an average of 3 values of 10 … 250",
        ),
        (asked("sum", [0, 1], 501.0), "cannot be a sum of 2 values"),
        (asked("sum", [0, 1], 19.0), "cannot be a sum of 2 values"),
        (asked("max", [0, 1], 251.0), "cannot be a maximum"),
        (asked("min", [0], 9.0), "cannot be a minimum of a value"),
        (asked("median", [0, 1, 2], 10.5), "cannot be a median"),
        (asked("stddev_pop", [0, 1], -1.0), "cannot be a population standard deviation"),
        (asked("var_pop", [0, 1], 1e6), "cannot be a population variance"),
        (asked("var_samp", [0], 1.0), "one person has no sample variance"),
        (asked("count", [0, 1], 3.0), "the answer is 3, but 2 people of the data meet its condition"),
        (asked("avg", [], 3.0), "nobody meets its condition"),
        (asked("sum", [0], float("nan")), "finite"),
    ],
)
def test_an_impossible_answer_is_named(question: Question, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        answer_system([question], values=DOMAIN, people=4)


def test_a_maximum_between_two_values_of_the_domain_is_refused() -> None:
    with pytest.raises(InputError, match=r"the domain \(3 values from 10 to 60\)"):
        answer_system([asked("max", [0, 1], 20.0)], values=[10, 30, 60], people=2)


def test_two_answers_to_one_question_contradict() -> None:
    questions = [asked("sum", [2], 20), asked("sum", [0, 1], 157), asked("avg", [0, 1], 79, 2)]
    assert answer_system(questions, values=DOMAIN, people=4).totals.tolist() == [
        10,
        137,
    ]  # 79 is 78.5, rounded
    questions[2] = replace(questions[2], answer=79.5)
    with pytest.raises(ContradictionError, match="a smallest contradicting set") as caught:
        answer_system(questions, values=DOMAIN, people=4)
    assert caught.value.questions == (questions[1], questions[2])
    with pytest.raises(ContradictionError):
        answer_system([asked("max", [0, 1], 20), asked("max", [0, 1], 21)], values=DOMAIN, people=4)


def test_cents_over_a_wide_domain_are_counted_in_cents() -> None:
    values = [0.01, 3.5, 1_234_567.89]
    grid, deviation = answer_grid(values, people=3)
    assert grid.step == pytest.approx(0.01)
    assert deviation < 1e-9
    system = answer_system([asked("sum", [0, 1], 1_234_571.39)], values=values, people=3)
    assert system.totals.tolist() == [349 + 123_456_788]


def test_values_without_a_common_step_are_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match=r"no common step.*round_to"):
        answer_system([], values=[0.0, 1.0, np.pi], people=2)
    with pytest.raises(InputError, match="too many to add up exactly"):
        answer_grid([0.0, 0.000_001, 1_000_000.0], people=10_000_000)


def test_the_truth_must_lie_in_the_domain() -> None:
    with pytest.raises(InputError, match=r"truth\[1\] is 9"):
        answer_system([], values=DOMAIN, people=2, truth=[10, 9])
    with pytest.raises(InputError, match="one value for each"):
        answer_system([], values=DOMAIN, people=2, truth=[10])
