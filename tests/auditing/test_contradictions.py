"""Recorded answers that contradict each other: the error names a smallest set of them."""

from __future__ import annotations

import pandas as pd
import pytest

import equivoc as eq

FRAME = pd.DataFrame({"sex": list("FFMMM"), "age": [30, 41, 37, 37, 52], "pay": [50, 107, 77, 80, 60]})
ALL, FEMALE, MALE = (
    f"SELECT SUM(pay) FROM people{where}" for where in ("", " WHERE sex='F'", " WHERE sex='M'")
)
MAX, MIN = "SELECT MAX(pay) FROM people WHERE sex='F'", "SELECT MIN(pay) FROM people"
MEDIAN = "SELECT MEDIAN(pay) FROM people WHERE sex='F'"
OLD = "SELECT AVG(pay) FROM people WHERE age > 50"


@pytest.fixture(scope="module")
def people() -> eq.Microdata:
    return eq.Microdata(FRAME, confidential="pay", keys=["sex", "age"], domain=range(10, 151))


@pytest.mark.parametrize(
    ("log", "answers", "contradicting"),
    [
        ([OLD, ALL, FEMALE, MALE], [None, 374, 157, 218], {2, 3, 4}),
        ([OLD, FEMALE, MAX], [None, 157, 60], {2, 3}),
        ([MAX, OLD, MIN], [57, None, 60], {1, 3}),
        ([FEMALE, ALL, "SELECT AVG(pay) FROM people WHERE sex='F'"], [157, 374, 80], {1, 3}),
        ([OLD, MEDIAN, FEMALE], [None, 30, 157], {2, 3}),
        ([OLD, FEMALE], [None, 400], {2}),
    ],
)
def test_a_smallest_contradicting_set(
    people: eq.Microdata, log: list[str], answers: list[float | None], contradicting: set[int]
) -> None:
    with pytest.raises(eq.InputError) as told:
        eq.audit(people, log, answers=answers)
    named = {number for number in range(1, len(log) + 1) if f"statement {number}," in str(told.value)}
    assert named == contradicting, told.value
    if len(contradicting) > 1:
        assert "a smallest contradicting set" in str(told.value)


def test_a_prior_that_rules_the_answers_out(people: eq.Microdata) -> None:
    prior = [1.0, *[0.0] * 140]
    with pytest.raises(eq.InputError, match="the prior rules the answers out"):
        eq.audit(people, FEMALE, prior=prior)
