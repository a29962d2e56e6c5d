"""The drawn databases and the test of disclosure, against the enumeration of all databases that fit."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.gateway.answered import Answered, KeyOrders, Shared
from equivoc.gateway.gateway import Gateway
from equivoc.gateway.policy import Policy
from equivoc.gateway.rank_rule import secret_prime
from equivoc.systems.grids import even_grid
from equivoc.systems.system import Question
from tests.gateway.conftest import ids

NUMPY = {"sum": np.sum, "avg": np.mean, "min": np.min, "max": np.max}


def answered(truth: Any, values: Any, **policy: Any) -> Answered:
    """Nothing answered yet, about people with an id and these values."""
    frame = pd.DataFrame({"id": np.arange(len(truth)), "x": truth})
    people = Microdata(frame, confidential="x", keys=["id"], domain=values)
    grid = even_grid(people.values)
    made = Policy(**{"least_people": 1, **policy})
    return Answered(Shared(made, secret_prime(5), grid, grid.positions[people.codes], KeyOrders(people)))


def question(aggregate: str, members: Any, truth: Any) -> Question:
    chosen = np.array(sorted(members))
    answer = float(NUMPY[aggregate](np.asarray(truth)[chosen]))
    return Question(aggregate, chosen, answer, statement=0, text="")  # type: ignore[arg-type]


def all_that_fit(questions: list[Question], values: Any, people: int) -> np.ndarray:
    every = np.array(list(product(values, repeat=people)))
    for each in questions:
        every = every[np.isclose(NUMPY[each.aggregate](every[:, each.members], axis=1), each.answer)]
    return every


def least_entropy(databases: np.ndarray, people: Any) -> float:
    """The least H0, in bits, of these people over equally likely databases."""
    found = []
    for person in people:
        share = np.unique(databases[:, person], return_counts=True)[1] / len(databases)
        found.append(-(share * np.log2(share)).sum())
    return float(min(found))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[int], list[tuple[str, list[int]]]]:
    people = draw(st.integers(3, 6))
    values = draw(st.sampled_from([[0, 1, 2], [0, 1, 2, 3], [0, 2, 3, 7], [5, 10]]))
    truth = draw(st.lists(st.sampled_from(values), min_size=people, max_size=people))
    members = st.lists(st.integers(0, people - 1), min_size=1, max_size=people, unique=True)
    run = st.tuples(st.integers(0, people - 1), st.integers(1, people)).map(
        lambda ends: list(range(ends[0], min(people, ends[0] + ends[1])))
    )
    asked = st.tuples(st.sampled_from(["sum", "avg", "min", "max"]), st.one_of(run, members))
    return values, truth, draw(st.lists(asked, min_size=1, max_size=5))


@given(cases())
@settings(max_examples=25)
def test_every_drawn_database_gives_all_answers(
    case: tuple[list[int], list[int], list[tuple[str, list[int]]]],
) -> None:
    values, truth, asked = case
    known = answered(truth, values)
    grid = even_grid(values)
    place = {int(position): value for position, value in zip(grid.positions, values, strict=True)}
    for aggregate, members in asked:
        each = question(aggregate, members, truth)
        known.take([each])
        if known.saved_pool().databases == b"":
            return  # no database could be led to the answers; everything else is refused
        drawn = known._pool.databases
        numbers = np.vectorize(place.__getitem__)(drawn)
        given_answers = NUMPY[aggregate](numbers[:, each.members], axis=1)
        assert np.allclose(given_answers, each.answer)
        for earlier_aggregate, earlier in asked[: asked.index((aggregate, members))]:
            told = question(earlier_aggregate, earlier, truth)
            assert np.allclose(NUMPY[earlier_aggregate](numbers[:, told.members], axis=1), told.answer)


@pytest.mark.parametrize(
    "asked",
    [
        [("sum", [0, 1, 2]), ("sum", [2, 3, 4])],
        [("max", [0, 1, 2]), ("sum", [0, 1, 2, 3]), ("min", [3, 4])],
        [("max", [0, 1, 2, 3]), ("max", [2, 3, 4])],
        [("sum", [0, 1]), ("sum", [1, 2]), ("sum", [2, 3])],
        [("sum", [0, 2, 4]), ("sum", [1, 2, 3]), ("max", [0, 1, 2, 3, 4])],
    ],
)
def test_the_draws_are_equally_likely(asked: list[tuple[str, list[int]]]) -> None:
    """Frequencies of single values, over 2,000 independent chains, within five standard deviations."""
    truth, values, draws = [1, 3, 2, 0, 2], [0, 1, 2, 3], 2_000
    questions = [question(aggregate, members, truth) for aggregate, members in asked]
    known = answered(truth, values, draws=draws)
    for each in questions:
        known.take([each])
    fits = all_that_fit(questions, values, 5)
    for person in range(5):
        for value in values:
            expected = (fits[:, person] == value).mean()
            seen = (known._pool.databases[:, person] == value).mean()
            assert abs(seen - expected) <= 5 * np.sqrt(max(expected * (1 - expected), 0) / draws) + 1e-9


@given(cases(), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=60)
def test_whoever_would_be_disclosed_is_found(
    case: tuple[list[int], list[int], list[tuple[str, list[int]]]], least_h0: float
) -> None:
    """With the true answer (not simulatable): exact posteriors below the limit are refused, certainty always."""
    values, truth, asked = case
    known = answered(truth, values, least_h0=least_h0, simulatable=False)
    questions: list[Question] = []
    for aggregate, members in asked:
        each = question(aggregate, members, truth)
        if known.follows(each):
            continue
        trial = None
        if aggregate in ("sum", "avg"):
            trial = known.known_sums.trial([each.members], seed=1, work=10**9)
        found = known.disclosing([each], trial)
        assert found is not None
        fits = all_that_fit([*questions, each], values, len(truth))
        exact = least_entropy(fits, each.members)
        if exact < least_h0 - 0.2 or exact == 0:
            assert found == 1
        known.take([each], trial)
        questions.append(each)


def test_people_outside_the_query_set_count_too() -> None:
    """The sum of four is 4; that of the last two is 4 as well: the first two have 0."""
    truth, values = [0, 0, 3, 1], [0, 1, 2, 3]
    known = answered(truth, values, least_h0=0.0, simulatable=False)
    known.take([question("sum", [0, 1, 2, 3], truth)])
    each = question("sum", [2, 3], truth)
    assert known.disclosing([each], known.known_sums.trial([each.members], seed=1, work=10**9)) == 1
    assert (
        least_entropy(all_that_fit([question("sum", [0, 1, 2, 3], truth), each], values, 4), each.members) > 1
    )


def test_safe_questions_are_answered() -> None:
    """The test of disclosure must also be able to pass: large sets of many values."""
    truth = np.random.default_rng(2).integers(0, 20, 60)
    known = answered(truth, range(20), least_h0=2.0)
    for aggregate, members in [
        ("sum", range(30)), ("max", range(10, 40)), ("min", range(10, 40)), ("sum", range(20, 50)),
        ("sum", [1, 5, 9, 22, 41, 50, 55]), ("max", [2, 3, 4, 5, 6, 44]),
    ]:  # fmt: skip
        each = question(aggregate, members, truth)
        trial = None
        if aggregate == "sum":
            trial = known.known_sums.trial([each.members], seed=1, work=10**9)
        assert known.disclosing([each], trial) in (0, 1)
        known.take([each], trial)


@given(st.integers(0, 10_000))
@settings(max_examples=4)
def test_decisions_do_not_depend_on_the_true_data(seed: int) -> None:
    """Another database with the same past answers gets the same decisions, in the same words."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(12, 25))
    frame = pd.DataFrame({"id": np.arange(number), "x": rng.integers(0, 8, number)})
    asked = []
    for _ in range(14):
        aggregate = rng.choice(["SUM", "AVG", "MIN", "MAX"])
        low, high = sorted(rng.integers(0, number, 2))
        members = range(low, high + 1) if rng.random() < 0.5 else np.flatnonzero(rng.random(number) < 0.5)
        asked.append(f"SELECT {aggregate}(x) FROM people WHERE {ids([*members, low])}")
    policy = {"least_h0": 0.6, "share": 0.2}

    def run(data: pd.DataFrame, folder: str) -> tuple[list[Any], np.ndarray]:
        people = Microdata(data, confidential="x", keys=["id"], domain=range(8))
        with Gateway(people, store=Path(folder) / "store", policy=policy) as gate:
            replies = [gate.ask(sql, analyst="a") for sql in asked]
            pool = gate._decisions._of("a")._pool
            other = data["x"].to_numpy() if pool.lost else pool.databases[seed % len(pool.databases)]
            return replies, other

    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        replies, other = run(frame, one)
        again, _ = run(frame.assign(x=other), two)
    assert replies == again
    assert any(reply.answered for reply in replies)
    assert not all(reply.answered for reply in replies)


def test_sums_may_leave_one_person_who_has_the_minimum() -> None:
    """Eight people have 9 by their sums; the database is led to a minimum of 0 by one of the other two."""
    truth = [9] * 8 + [0, 5]
    known = answered(truth, range(10))
    for first in range(0, 8, 2):
        known.take([question("sum", [first, first + 1], truth)])
    known.take([question("min", range(10), truth)])
    assert not known._pool.lost
    drawn = known._pool.databases
    assert (drawn[:, :8] == 9).all()
    assert (drawn.min(axis=1) == 0).all()
