"""Singling out: predicates counted one by one, copies and independent draws, and what the control group says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models import singling_out
from equivoc.models.of_release.released_table import released_table
from equivoc.models.of_synthetic.attacked_tables import attacked
from equivoc.models.of_synthetic.predicates import Condition, SortedTable, _multivariate, _univariate

KEYS = ["age", "job"]


def drawn(n: int, seed: int) -> pd.DataFrame:
    """People with a number, a category and a pay that depends on both."""
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 80, n), rng.integers(0, 12, n)
    pay = 20 * age + 300 * job + rng.integers(0, 400, n)
    return pd.DataFrame({"age": age, "job": [f"j{j}" for j in job], "pay": pay})


def people_of(frame: pd.DataFrame) -> Microdata:
    return Microdata(frame, confidential="pay", keys=KEYS)


def fits(value: float, sign: str, wanted: float | None) -> bool:
    if wanted is None or np.isnan(value):
        return wanted is None and bool(np.isnan(value))
    return {"=": value == wanted, "≤": value <= wanted, "≥": value >= wanted}[sign]


CELL = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])


@given(
    st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=15),
    st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from("=≤≥"), st.sampled_from([None, 0.0, 1.0, 1.5, 3.0, 9.0])
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_counting_the_records_that_fit(rows: list[tuple[float, ...]], conditions: list[Any]) -> None:
    table = SortedTable([np.array(column) for column in zip(*rows, strict=True)])
    expected = sum(all(fits(row[at], sign, value) for at, sign, value in conditions) for row in rows)
    assert table.fitting(tuple(Condition(*each) for each in conditions)) == expected


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 3, 7, None]), st.sampled_from("abc")), min_size=1, max_size=12)
)
def test_univariate_predicates(rows: list[tuple[Any, str]]) -> None:
    """Values that occur once, and of numbers the ends."""
    frame = pd.DataFrame({"age": [a for a, _ in rows], "job": [j for _, j in rows], "pay": [1] * len(rows)})
    frame["age"] = frame["age"].astype("Int64")
    people = people_of(frame)
    attributes = attacked(released_table(people, eq.ReleasedFile(frame).release(people)), people, KEYS)
    found = Counter(predicate[0] for predicate in _univariate(attributes))
    ages, jobs = Counter(a for a, _ in rows), Counter(j for _, j in rows)
    expected = [Condition(0, "=", None if a is None else float(a)) for a, n in ages.items() if n == 1]
    numbers = [a for a in ages if a is not None]
    if numbers:
        expected += [Condition(0, "≤", float(min(numbers))), Condition(0, "≥", float(max(numbers)))]
    assert Counter(c for c in found if c.attribute == 0) == Counter(expected)
    assert sum(n for c, n in found.items() if c.attribute == 1) == sum(n == 1 for n in jobs.values())
    assert {c.sign for c in found if c.attribute == 1} <= {"="}


def test_multivariate_predicates_fit_one_released_record() -> None:
    frame = drawn(300, 1)
    people = people_of(frame)
    attributes = attacked(released_table(people, eq.ReleasedFile(frame).release(people)), people, KEYS)
    predicates = _multivariate(attributes, 3, 25, np.random.default_rng(0))
    assert len(predicates) == len(set(predicates)) == 25
    rows = np.column_stack([each.released for each in attributes])
    for predicate in predicates:
        assert sum(all(fits(row[c.attribute], c.sign, c.value) for c in predicate) for row in rows) == 1
        for c in predicate:  # numbers above the median from below, others from above
            if c.attribute == 1:
                assert c.sign == "="
            else:
                above = c.value is not None and c.value > np.median(rows[:, c.attribute])
                assert c.sign == ("≥" if above else "≤")


@pytest.mark.parametrize("kind", ["univariate", "multivariate"])
def test_a_copy_always_succeeds_and_the_control_group_shows_it(kind: str) -> None:
    frame = drawn(400, 1)
    people = people_of(frame)
    found = singling_out(people, eq.ReleasedFile(frame).release(people), control=drawn(400, 2), kind=kind)
    assert found.attacks > 50
    # The least and the greatest number, of one attribute, may be several people's.
    assert found.success == found.compared >= (1 if kind == "multivariate" else 0.98)
    assert found.control < 0.6
    assert found.excess_interval[0] > 0.2
    assert found.risk == pytest.approx(1, abs=0.03)
    assert found.baseline < 0.7


@pytest.mark.parametrize("kind", ["univariate", "multivariate"])
def test_an_independent_file_tells_as_much_of_strangers(kind: str) -> None:
    """A synthetic file drawn like the people: no difference on average, and 95 % intervals hold 0 mostly."""
    found = []
    for seed in range(20):
        people = people_of(drawn(400, 3 * seed + 100))
        release = eq.ReleasedFile(drawn(400, 3 * seed + 101)).release(people)
        found.append(
            singling_out(
                people, release, control=drawn(400, 3 * seed + 102), kind=kind, attacks=200, seed=seed
            )
        )
    assert abs(np.mean([each.excess for each in found])) < 0.03
    assert sum(each.excess_interval[0] <= 0 <= each.excess_interval[1] for each in found) >= 17


def test_groups_of_other_sizes_are_compared_on_equally_many() -> None:
    """A predicate that fits one of few fits several of many: without equal numbers the control group misleads."""
    people = people_of(drawn(2_000, 1))
    release = eq.ReleasedFile(drawn(2_000, 2)).release(people)
    for size in (150, 20_000):
        found = singling_out(people, release, control=drawn(size, 3), attacks=400)
        assert abs(found.excess) < 0.1
    few = singling_out(people, release, control=drawn(150, 3), attacks=400)
    assert abs(few.success - few.compared) > 0.05


def test_the_same_seed_gives_the_same_result() -> None:
    people = people_of(drawn(300, 1))
    release, control = eq.ReleasedFile(drawn(300, 2)).release(people), drawn(200, 3)
    one = singling_out(people, release, control=control, seed=4)
    assert one == singling_out(people, release, control=control, seed=4)
    assert one != singling_out(people, release, control=control, seed=5)


def test_ranges_in_place_of_numbers_are_left_out() -> None:
    frame = drawn(60, 1)
    people = people_of(frame)
    masked = frame.assign(age=[f"{10 * (a // 10)}-{10 * (a // 10) + 9}" for a in frame["age"]])
    table = released_table(people, eq.ReleasedFile(masked).release(people))
    assert [each.name for each in attacked(table, people, KEYS)] == ["job", "pay"]
    text = frame.astype({"age": str, "pay": str})  # as in a CSV file
    table = released_table(people, eq.ReleasedFile(text).release(people))
    found = attacked(table, people, KEYS)
    assert [(each.name, each.numeric) for each in found] == [("age", True), ("job", False), ("pay", True)]
    assert found[0].released.tolist() == frame["age"].tolist()


def test_a_file_of_equal_records_offers_no_predicates() -> None:
    frame = pd.DataFrame({"age": [30] * 4, "job": ["a"] * 4, "pay": [1] * 4})
    people = people_of(frame)
    found = singling_out(people, eq.ReleasedFile(frame).release(people), control=frame)
    assert (found.attacks, found.success, found.interval, found.risk) == (0, 0, (0, 1), 0)
    told = eq.measures(people, eq.ReleasedFile(frame).release(people), control=frame)["measure"].tolist()
    assert "singling out, multivariate" not in told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"control": None}, "give control: people of the same population"),
        ({"control": pd.DataFrame({"age": [1]})}, "the control group cannot be used: "),
        ({"kind": "both"}, "kind is 'both'; it must be one of univariate, multivariate"),
        ({"columns": 0}, "columns is 0; it must be a whole number of 1 or more"),
        ({"attacks": 2.5}, "attacks is 2.5; it must be a whole number of 1 or more"),
        ({"seed": -1}, "seed is -1; it must be a whole number of 0 or more"),
        ({"known": ["town"]}, "'town' is not a key"),
    ],
)
def test_bad_input(arguments: dict[str, Any], sentence: str) -> None:
    people = people_of(drawn(20, 1))
    release = eq.ReleasedFile(drawn(20, 2)).release(people)
    with pytest.raises(eq.InputError, match=sentence):
        singling_out(people, release, **({"control": drawn(20, 3)} | arguments))


def test_answers_to_queries_are_no_table() -> None:
    people = people_of(drawn(20, 1))
    with pytest.raises(eq.InputError, match="the release has no table of records"):
        singling_out(people, eq.QueryRestriction(size=4).release(people, 1), control=drawn(20, 3))
