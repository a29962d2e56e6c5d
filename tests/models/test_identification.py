"""Prosecutor, journalist and marketer risk, δ-presence: worked cases, and chances added up record by record."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.of_file.identification import (
    IdentificationRisk,
    MarketerRisk,
    journalist_risk,
    marketer_risk,
    prosecutor_risk,
)
from equivoc.models.of_file.likeness import DeltaPresence, delta_presence
from tests.models.tables import Rows, households, microdata, tables


@st.composite
def samples(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """A population and some of its records."""
    population = draw(tables(keys=3))
    chosen = draw(st.lists(st.sampled_from(range(len(population))), min_size=1, unique=True))
    return population, [population[at] for at in chosen]


def keys_of(rows: Rows) -> list[tuple[Any, ...]]:
    return [row[:-1] for row in rows]


def test_the_households_under_three_attacks() -> None:
    """Table 4.1 of the practice guide: F = 360, 215, 152, 186, 180, 215, 262 for 7 classes, three of them of two."""
    people = households()
    assert prosecutor_risk(people) == IdentificationRisk(1.0, 0.7, 1.0, 0.2, "the file itself")
    assert prosecutor_risk(people, threshold=0.5).above == 0.4
    found = journalist_risk(people, threshold=1 / 185)
    assert found.population == "the survey weights"
    assert found.highest == 1 / 152
    # Classes with F < 185 are those of 152 (two records) and 180 (one).
    assert found.above == pytest.approx(0.3)
    by_record = (2 / 360 + 1 / 215 + 2 / 152 + 1 / 186 + 1 / 180 + 1 / 215 + 2 / 262) / 10
    assert found.average == pytest.approx(max(7 / 1570, by_record))
    assert marketer_risk(people).share == pytest.approx(by_record)
    assert marketer_risk(people).expected == pytest.approx(10 * by_record)


@pytest.mark.parametrize(
    ("small", "large", "average"),
    [
        ((1, 2), (100, 100), 2 / 102),  # from a person; from a record it is (1/2 + 1) / 101
        ((2, 2), (1, 100), (1 + 1 / 100) / 3),  # from a record; from a person it is 2 / 102
    ],
)
def test_the_journalist_takes_the_riskier_way(
    small: tuple[int, int], large: tuple[int, int], average: float
) -> None:
    """Two classes, each with f records of F people."""
    people = microdata([(0, 1)] * small[0] + [(1, 1)] * large[0])
    population = microdata([(0, 1)] * small[1] + [(1, 1)] * large[1])
    assert journalist_risk(people, population=population).average == pytest.approx(average)


@given(samples())
def test_against_chances_added_up_record_by_record(pair: tuple[Rows, Rows]) -> None:
    rows, chosen = pair
    behind, alike = Counter(keys_of(rows)), Counter(keys_of(chosen))
    n = len(chosen)
    people, population = microdata(chosen), microdata(rows)
    chances = [1 / alike[k] for k in keys_of(chosen)]
    found = prosecutor_risk(people, threshold=0.3)
    assert (found.highest, found.average) == pytest.approx((max(chances), sum(chances) / n))
    assert found.above == pytest.approx(sum(chance > 0.3 for chance in chances) / n)
    chances = [1 / behind[k] for k in keys_of(chosen)]
    found = journalist_risk(people, population=population, threshold=0.3)
    from_person = len(alike) / sum(behind[k] for k in alike)
    assert found.highest == pytest.approx(max(chances))
    assert found.average == pytest.approx(max(from_person, sum(chances) / n))
    assert found.above == pytest.approx(sum(chance > 0.3 for chance in chances) / n)
    assert found.population == "the population given"
    expected = MarketerRisk(
        pytest.approx(sum(chances) / n), pytest.approx(sum(chances)), "the population given"
    )
    assert marketer_risk(people, population=population) == expected
    present = [alike[k] / behind[k] for k in behind]
    found_presence = delta_presence(people, population=population)
    assert (found_presence.low, found_presence.high) == pytest.approx((min(present), max(present)))


@given(samples())
def test_a_population_that_is_the_file_changes_nothing(pair: tuple[Rows, Rows]) -> None:
    people = microdata(pair[0])
    alone, given_population = journalist_risk(people), journalist_risk(people, population=people)
    prosecutor = prosecutor_risk(people)
    assert (alone.highest, alone.above) == (prosecutor.highest, prosecutor.above)
    assert alone.average == pytest.approx(prosecutor.average)
    assert (alone.highest, alone.average) == (given_population.highest, given_population.average)
    assert delta_presence(people, population=people) == DeltaPresence(1.0, 1.0)


def test_delta_presence_by_hand() -> None:
    """Two of four, two of three, none of one."""
    everyone = [("F", 0)] * 4 + [("M", 0)] * 3 + [(None, 0)]
    people = microdata([("F", 0)] * 2 + [("M", 0)] * 2)
    assert delta_presence(people, population=microdata(everyone)) == DeltaPresence(0.0, 2 / 3)
    assert delta_presence(people, population=microdata(everyone[:-1])) == DeltaPresence(0.5, 2 / 3)
    assert delta_presence(people, population=microdata(everyone), known=[]) == DeltaPresence(0.5, 0.5)


def test_the_population_may_have_other_columns_order_and_levels() -> None:
    people = Microdata(
        pa.table({"sex": ["M", "F"], "age": [41, 30], "pay": [1, 2]}), confidential="pay", keys=["sex", "age"]
    )
    register = Microdata(
        pa.table({"born": [7, 8, 9, 9], "age": [41, 30, 30, 18], "town": list("xyxy"), "sex": list("MFFU")}),
        confidential="born",
        keys=["town", "age", "sex"],
    )
    assert delta_presence(people, population=register) == DeltaPresence(0.0, 1.0)
    assert journalist_risk(people, population=register, threshold=0.6).above == 0.5


def test_a_class_beyond_all_of_a_sparse_population_is_not_found_there() -> None:
    """Sixty of 3,600 combinations occur; the one asked for would be the last."""
    population = [(a, a if a < 59 else 0, 1) for a in range(60)] + [(0, 59, 1)]
    with pytest.raises(InputError, match=r"1 of the people with a 59, b 59, the population 0"):
        delta_presence(microdata([(59, 59, 1)]), population=microdata(population))


@pytest.mark.parametrize(
    ("population", "message"),
    [
        (
            [("F", 1)],
            r"the file has 2 of the people with a 'F', the population 1; give a population that includes",
        ),
        ([("M", 1)] * 9, r"the file has 2 of the people with a 'F', the population 0; give"),
        ([(5, 1)] * 9, r"the population 0; give"),
        ([("A", 1)] * 9 + [("Z", 1)] * 9, r"the population 0; give"),
    ],
)
def test_a_population_without_the_people_is_refused(population: Rows, message: str) -> None:
    people = microdata([("F", 1), ("F", 2)])
    for measure in (journalist_risk, marketer_risk, delta_presence):
        with pytest.raises(InputError, match=message):
            measure(people, population=microdata(population))


def test_bad_arguments() -> None:
    people = microdata([("F", 1), ("F", 2)])
    with pytest.raises(InputError, match=r"threshold is 2; it must be a chance from 0 to 1\."):
        prosecutor_risk(people, threshold=2)
    with pytest.raises(InputError, match=r"threshold is nan; it must be"):
        journalist_risk(people, threshold=float("nan"))
    with pytest.raises(InputError, match=r"the population has no key 'b'; name it among its keys\."):
        marketer_risk(microdata([("F", "x", 1)]), population=people)
    with pytest.raises(InputError, match=r"population is a list; convert it"):
        delta_presence(people, population=[1])  # type: ignore[arg-type]
