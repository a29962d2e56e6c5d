"""Singling out: predicates counted one by one, copies and independent draws, and what the control group says."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models import singling_out
from equivoc.models.of_release import predicates
from equivoc.models.of_release.attacks import attacked
from equivoc.models.of_release.fitting_kernels import AT_LEAST, AT_MOST, EQUAL, NULL
from equivoc.models.of_release.predicates import Predicates, multivariate, univariate
from equivoc.models.of_release.released_table import released_table

KEYS = ["age", "job"]


def drawn(n: int, seed: int) -> pd.DataFrame:
    """People with a number, a category and a pay that depends on both."""
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 80, n), rng.integers(0, 12, n)
    pay = 20 * age + 300 * job + rng.integers(0, 400, n)
    return pd.DataFrame({"age": age, "job": [f"j{j}" for j in job], "pay": pay})


def people_of(frame: pd.DataFrame) -> Microdata:
    return Microdata(frame, confidential="pay", keys=KEYS)


Condition = tuple[int, str, float | None]
SIGNS = {EQUAL: "=", NULL: "=", AT_MOST: "≤", AT_LEAST: "≥"}
CODES = {"=": EQUAL, "≤": AT_MOST, "≥": AT_LEAST}


def written(found: Predicates) -> list[tuple[Condition, ...]]:
    """Each predicate as its conditions: attribute, sign, value (None: is null)."""
    rows = zip(found.attributes.tolist(), found.signs.tolist(), found.values.tolist(), strict=True)
    return [
        tuple((a, SIGNS[s], None if s == NULL else v) for a, s, v in zip(*row, strict=True)) for row in rows
    ]


def fits(value: float, sign: str, wanted: float | None) -> bool:
    if wanted is None or np.isnan(value):
        return wanted is None and bool(np.isnan(value))
    return {"=": value == wanted, "≤": value <= wanted, "≥": value >= wanted}[sign]


def fitting(rows: Any, predicate: tuple[Condition, ...]) -> int:
    """How many rows fit, one by one."""
    return sum(all(fits(row[at], sign, value) for at, sign, value in predicate) for row in rows)


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
    one = Predicates(
        np.array([[at for at, _, _ in conditions]]),
        np.array([[NULL if value is None else CODES[sign] for _, sign, value in conditions]]),
        np.array([[np.nan if value is None else value for _, _, value in conditions]]),
    )
    found = one.fitting(np.array(list(zip(*rows, strict=True))))
    assert found.tolist() == [min(fitting(rows, tuple(conditions)), 2)]


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
    made = univariate(attributes, 100, np.random.default_rng(0))
    assert made.all_there_are
    found = Counter(predicate[0] for predicate in written(made.predicates))
    ages, jobs = Counter(a for a, _ in rows), Counter(j for _, j in rows)
    expected: list[Condition] = [(0, "=", None if a is None else float(a)) for a, n in ages.items() if n == 1]
    numbers = [a for a in ages if a is not None]
    if numbers:
        expected += [(0, "≤", float(min(numbers))), (0, "≥", float(max(numbers)))]
    assert Counter(c for c in found.elements() if c[0] == 0) == Counter(expected)
    assert sum(n for c, n in found.items() if c[0] == 1) == sum(n == 1 for n in jobs.values())
    assert {sign for at, sign, _ in found if at == 1} <= {"="}


def test_multivariate_predicates_fit_one_released_record() -> None:
    frame = drawn(300, 1)
    people = people_of(frame)
    attributes = attacked(released_table(people, eq.ReleasedFile(frame).release(people)), people, KEYS)
    predicates = written(multivariate(attributes, 3, 25, np.random.default_rng(0)).predicates)
    assert len(predicates) == len(set(predicates)) == 25
    rows = np.column_stack([each.released for each in attributes])
    for predicate in predicates:
        assert fitting(rows, predicate) == 1
        for at, sign, value in predicate:  # numbers above the median from below, others from above
            if at == 1:
                assert sign == "="
            else:
                assert sign == ("≥" if value is not None and value > np.median(rows[:, at]) else "≤")


def coarse(n: int, seed: int) -> pd.DataFrame:
    """People of whom few can be singled out by two attributes: 3 × 3 × 8 combinations, some of them rare."""
    rng = np.random.default_rng(seed)
    often = [0.03, 0.07, 0.1, 0.3, 0.3, 0.1, 0.07, 0.03]
    return pd.DataFrame(
        {
            "age": rng.choice([20, 30, 40], n, p=[0.05, 0.9, 0.05]),
            "job": rng.choice(["a", "b", "c"], n, p=[0.01, 0.495, 0.495]),
            "pay": rng.choice(np.arange(8), n, p=often),
        }
    )


def every_predicate(rows: np.ndarray, numeric: list[bool], width: int) -> set[tuple[Condition, ...]]:
    """What a release offers, by enumeration of records and attributes."""
    median = [float(np.median(column)) for column in rows.T]
    made = {
        tuple(
            (at, "=" if not numeric[at] else "≥" if row[at] > median[at] else "≤", float(row[at]))
            for at in some
        )
        for row in rows
        for some in combinations(range(rows.shape[1]), width)
    }
    return {predicate for predicate in made if fitting(rows, predicate) == 1}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [40, 400])
def test_few_predicates_are_found_all(size: int, seed: int) -> None:
    """Where few of the draws single somebody out, the search goes on until it has all that there are."""
    frame = coarse(size, seed)
    people = people_of(frame)
    release = eq.ReleasedFile(frame).release(people)
    attributes = attacked(released_table(people, release), people, KEYS)
    rows = np.column_stack([each.released for each in attributes])
    expected = every_predicate(rows, [each.numeric for each in attributes], 2)
    assert 0 < len(expected) < 500
    made = multivariate(attributes, 2, 500, np.random.default_rng(seed))
    assert set(written(made.predicates)) == expected
    assert len(made.predicates) == len(expected)
    found = singling_out(people, release, control=coarse(size, seed + 50), columns=2, seed=seed)
    assert (found.attacks, found.asked, found.all_there_are) == (len(expected), 500, True)
    assert found.attempts == 3 * size  # each pair of a record and two of three attributes
    assert found.note == "all there are; 500 were asked for"
    assert found.success == 1  # the release is a copy
    assert found.interval[0] == pytest.approx(
        1 / (1 + 1.96**2 / len(expected)), abs=1e-4
    )  # Wilson's, all right


def rare(n: int, seed: int) -> pd.DataFrame:
    """People of whom a predicate singles out one only at the ends of pay: about one draw in two hundred."""
    rng = np.random.default_rng(seed)
    job = [f"j{j}" for j in rng.integers(0, 20, n)]
    return pd.DataFrame({"age": rng.choice([20, 40, 60], n), "job": job, "pay": rng.integers(0, 10**6, n)})


def test_as_many_as_asked_for_where_one_draw_in_two_hundred_singles_out() -> None:
    """Giving up after the first draws left five predicates and an excess anywhere from −0.4 to 0.4."""
    frame, size = rare(30_000, 1), 30_000
    people = people_of(frame)
    found = singling_out(people, eq.ReleasedFile(frame).release(people), control=rare(size, 2), attacks=60)
    assert found.attacks / found.attempts < 0.02
    assert (found.attacks, found.note) == (60, "")
    assert found.excess_interval[1] - found.excess_interval[0] < 0.4


def test_a_search_that_is_given_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = rare(3_000, 1)
    people, control = people_of(frame), rare(3_000, 2)
    release = eq.ReleasedFile(frame).release(people)
    monkeypatch.setattr(predicates, "MOST_ATTEMPTS", 2_000)
    found = singling_out(people, release, control=control)
    assert 0 < found.attacks < 500
    assert (found.attempts, found.all_there_are) == (2_000, False)
    assert found.note == "all that 2,000 attempts found; 500 were asked for"
    monkeypatch.setattr(predicates, "MOST_WORK", 10**5)
    less = singling_out(people, release, control=control)
    assert less.attempts < 2_000
    assert less.note.startswith(f"all that {less.attempts:,} attempts found")
    told = eq.measures(people, release, control=control).set_index("measure")["meaning"]
    assert "attempts found; 300 were asked for)" in told["singling out, multivariate"]


def test_the_baseline_has_as_many_predicates_as_asked_for() -> None:
    """Few predicates of the release must not mean a baseline of few."""
    frame = coarse(40, 1)
    people = people_of(frame)
    release = eq.ReleasedFile(frame).release(people)
    found = [
        singling_out(people, release, control=frame, columns=2, seed=seed).baseline for seed in range(20)
    ]
    assert np.std(found) < 2.5 * np.sqrt(np.mean(found) * (1 - np.mean(found)) / 500)


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
