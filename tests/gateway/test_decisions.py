"""The rules of the gateway in their order, on small data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.gateway.gateway import Gateway
from tests.gateway.conftest import ids, made_people

Open = Callable[..., Gateway]
KNOWN = "with the answers given before, the sum of fewer than 3 people would be known."
LOW = {"least_h0": 0.2}


def total(people: Microdata, members: Any) -> float:
    return float(people.values[people.codes[list(members)]].sum())


def test_answers_are_exact(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy=LOW)
    pay = people.values[people.codes]
    assert gate.ask("SELECT SUM(pay) FROM people", analyst="a").value == pay.sum()
    assert gate.ask("SELECT AVG(pay) FROM people WHERE sex = 'F'", analyst="a").value == pay[1::2].mean()
    assert gate.ask("SELECT COUNT(*) FROM people WHERE age < 30", analyst="a").value == 20
    assert gate.ask("SELECT MAX(pay) FROM people WHERE id < 20", analyst="a").value == pay[:20].max()
    assert gate.ask("SELECT MIN(pay) FROM people WHERE id >= 20", analyst="a").value == pay[20:].min()


def test_groups_come_as_rows(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy=LOW)
    reply = gate.ask("SELECT sex, SUM(pay), COUNT(*) FROM people GROUP BY sex", analyst="a")
    pay = people.values[people.codes]
    assert reply.value == [
        {"sex": "F", "SUM(pay)": pay[1::2].sum(), "COUNT(*)": 20.0},
        {"sex": "M", "SUM(pay)": pay[::2].sum(), "COUNT(*)": 20.0},
    ]
    assert gate.history()[0].value == reply.value


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("id < 2", "fewer than 3 people are in the query set."),
        ("id < 0", "fewer than 3 people are in the query set."),
        ("id >= 2", "fewer than 3 people are outside the query set."),
        ("id < 3", None),
        ("id < 37", None),
        ("id < 38", "fewer than 3 people are outside the query set."),
        ("id < 39", "fewer than 3 people are outside the query set."),
        ("id < 40", None),
    ],
)
@pytest.mark.parametrize("aggregate", ["COUNT(*)", "SUM(pay)", "MAX(pay)"])
def test_sizes_of_query_sets(
    people: Microdata, open_gate: Open, condition: str, reason: str | None, aggregate: str
) -> None:
    gate = open_gate(people, policy={"least_h0": 0.0, "share": 0.5})
    reply = gate.ask(f"SELECT {aggregate} FROM people WHERE {condition}", analyst="a")
    assert reply.answered == (reason is None)
    if reason is not None:
        assert reply.reason == reason
        assert reply.value is None


def test_one_small_group_refuses_the_statement(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy=LOW)
    reply = gate.ask("SELECT age, COUNT(*) FROM people GROUP BY age", analyst="a")
    assert reply.reason == "fewer than 3 people are in a query set of this question."
    assert gate.ask("SELECT sex, COUNT(*) FROM people GROUP BY sex", analyst="a").answered


def test_a_repeated_question_is_answered_again_in_any_words(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy=LOW)
    first = gate.ask("SELECT SUM(pay) FROM people WHERE age >= 30", analyst="a")
    for words in (
        "select sum(PAY) from people where not age < 30",
        "SELECT SUM(pay) FROM people WHERE id > 19",
    ):
        again = gate.ask(words, analyst="b")
        assert (again.answered, again.value) == (True, first.value)
    assert [entry.decision for entry in gate.history()] == ["answered", "repeated", "repeated"]


def test_what_follows_from_answers_is_answered(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy=LOW)
    gate.ask("SELECT SUM(pay) FROM people", analyst="a")
    gate.ask("SELECT SUM(pay) FROM people WHERE id < 20", analyst="a")
    reply = gate.ask("SELECT AVG(pay) FROM people WHERE id >= 20", analyst="a")
    assert reply.answered
    assert reply.reason == "the answer tells nothing that does not follow from earlier answers."


def test_neighbouring_sets_are_refused(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy=LOW)
    assert gate.ask("SELECT SUM(pay) FROM people WHERE id < 20", analyst="a").answered
    for condition in ("id < 21", "id < 22", "id < 19", "id BETWEEN 1 AND 19"):
        reply = gate.ask(f"SELECT SUM(pay) FROM people WHERE {condition}", analyst="b")
        assert (reply.answered, reply.reason) == (False, KNOWN)
    assert gate.ask("SELECT SUM(pay) FROM people WHERE id < 23", analyst="b").answered


def test_scope_of_each_analyst(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy={**LOW, "scope": "analyst"})
    assert gate.ask("SELECT SUM(pay) FROM people WHERE id < 20", analyst="a").answered
    assert not gate.ask("SELECT SUM(pay) FROM people WHERE id < 21", analyst="a").answered
    assert gate.ask("SELECT SUM(pay) FROM people WHERE id < 21", analyst="b").answered
    assert not gate.ask("SELECT SUM(pay) FROM people WHERE id < 20", analyst="b").answered


@pytest.mark.parametrize("aggregate", ["MEDIAN", "VARIANCE", "STDDEV"])
def test_moments_are_refused(people: Microdata, open_gate: Open, aggregate: str) -> None:
    reply = open_gate(people).ask(f"SELECT {aggregate}(pay) FROM people", analyst="a")
    assert not reply.answered
    assert reply.reason.endswith("is not answered: COUNT, SUM, AVG, MIN and MAX are.")


def test_class_edges(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy={**LOW, "edges": {"age": [25, 30, 35]}})
    for condition in ("age >= 25", "age < 30", "age BETWEEN 25 AND 29", "NOT age BETWEEN 30 AND 34"):
        assert gate.ask(f"SELECT SUM(pay) FROM people WHERE {condition}", analyst="a").answered
    for condition in ("age > 25", "age = 27", "age < 33 AND sex = 'F'", "age IN (25, 27, 29)", "age <> 31"):
        reply = gate.ask(f"SELECT SUM(pay) FROM people WHERE {condition}", analyst="a")
        assert not reply.answered
        assert "class edges" in reply.reason
    assert (
        "the nearest are 30 and 35"
        in gate.ask("SELECT COUNT(*) FROM people WHERE age < 32", analyst="a").reason
    )
    grouped = gate.ask("SELECT age, COUNT(*) FROM people GROUP BY age", analyst="a")
    assert grouped.reason.startswith("GROUP BY age makes a group of each value")
    assert gate.ask("SELECT sex, SUM(pay) FROM people WHERE age < 25 GROUP BY sex", analyst="a").answered


def test_what_is_no_question_is_an_error_and_is_logged(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people)
    with pytest.raises(InputError):
        gate.ask("DROP TABLE people", analyst="a")
    with pytest.raises(InputError, match="pay"):
        gate.ask("SELECT SUM(pay) FROM people WHERE pay > 3", analyst="a")
    assert [(entry.decision, entry.value) for entry in gate.history()] == [("invalid", None)] * 2
    assert gate.history()[0].question == "DROP TABLE people"


def test_too_little_work_refuses(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people, policy={"work": 100})
    reply = gate.ask("SELECT SUM(pay) FROM people WHERE id < 20", analyst="a")
    assert (reply.answered, reply.reason) == (False, "deciding takes more work than the policy allows.")


def test_the_individual_tracker_fails(people: Microdata, open_gate: Open) -> None:
    """Denning: q(C) with C = A and B for one person is padded to q(A) and q(A and not B)."""
    gate = open_gate(people, policy=LOW)
    whole = gate.ask("SELECT SUM(pay) FROM people WHERE age = 24 OR id < 8", analyst="a")
    without = gate.ask("SELECT SUM(pay) FROM people WHERE (age = 24 OR id < 8) AND NOT id = 9", analyst="b")
    assert whole.answered
    assert not without.answered


def test_the_general_tracker_fails(people: Microdata, open_gate: Open) -> None:
    """Denning: with any T of 2k to n − 2k people, q(C) = q(C or T) + q(C or not T) − q(T) − q(not T)."""
    gate = open_gate(people, policy=LOW)
    tracker = "id < 20"
    asked = [tracker, f"NOT {tracker}", f"id = 5 OR {tracker}", f"id = 5 OR NOT {tracker}"]
    replies = [gate.ask(f"SELECT SUM(pay) FROM people WHERE {each}", analyst="a") for each in asked]
    assert [reply.answered for reply in replies] == [True, True, True, False]


def test_limits_that_no_answer_can_meet(people: Microdata, open_gate: Open) -> None:
    with pytest.raises(InputError, match="least_people is 21"):
        open_gate(people, policy={"least_people": 21})
    with pytest.raises(InputError, match="lower least_h0"):
        open_gate(people, policy={"least_h0": 3.4})
    with pytest.raises(InputError, match="no key"):
        open_gate(people, policy={"edges": {"agee": [3]}})
    with pytest.raises(InputError, match="cannot be compared"):
        open_gate(people, policy={"edges": {"sex": [3]}})


def refusal_attack(gate: Gateway, people: int, group: int = 6) -> dict[int, int]:
    """Kenthapadi, Mishra and Nissim: after MAX over a group, a refused MAX without one person tells that she has it."""
    found = {}
    for begin in range(0, people, group):
        members = list(range(begin, begin + group))
        whole = gate.ask(f"SELECT MAX(pay) FROM people WHERE {ids(members)}", analyst="a")
        if not whole.answered:
            continue
        refused = [
            person
            for person in members
            if not gate.ask(
                f"SELECT MAX(pay) FROM people WHERE {ids(p for p in members if p != person)}", analyst="a"
            ).answered
        ]
        if len(refused) == 1:
            found[refused[0]] = whole.value
    return found


def test_refusals_tell_values_unless_the_gateway_is_simulatable(open_gate: Open) -> None:
    pay = np.random.default_rng(3).permutation(np.arange(60) % 30)
    people = made_people(pay, domain=range(30))
    settings = {"least_h0": 0.0, "share": 0.05}
    told = refusal_attack(open_gate(people, store="looks", policy=settings, simulatable=False), 60)
    assert len(told) >= 5
    assert all(pay[person] == value for person, value in told.items())
    assert refusal_attack(open_gate(people, store="simulates", policy=settings), 60) == {}
