"""Answers from the data against DuckDB's own aggregates and against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.sql.asking import PeopleTable, ask
from equivoc.sql.exact_aggregates import ConfidentialValues
from equivoc.sql.parsing import parse
from equivoc.sql.schema import schema_of
from equivoc.systems.system import AGGREGATES

WHERE = ("age > 40", "age BETWEEN 20 AND 29", "zip = 'a' OR age IS NULL", "age < 0", "age = 3 AND zip = 'b'")


@pytest.mark.parametrize("step", [1.0, 0.01, 1 / 3])
def test_the_answers_are_duckdbs(step: float) -> None:
    rng = np.random.default_rng(5)
    age = [None if value > 95 else int(value) for value in rng.integers(0, 100, 400)]
    table = pa.table(
        {"age": age, "zip": rng.choice(["a", "b", "c"], 400), "salary": rng.integers(-50, 250, 400) * step}
    )
    people = Microdata(table, confidential="salary", keys=["age", "zip"])
    opened = PeopleTable.of(people, schema_of(people))
    listed = ", ".join(f"{name}(salary)" for name in AGGREGATES)
    statements = [f"SELECT {listed} FROM people WHERE {where}" for where in WHERE]
    questions = iter(ask(opened, parse(statements, schema=opened.schema)).questions)
    connection = duckdb.connect()
    connection.register("people", table)
    for statement in statements:
        [row] = connection.execute(statement).fetchall()
        for expected in row:
            found = next(questions).answer
            if expected is None:
                assert found is None
            else:
                assert found is not None
                assert math.isclose(
                    found, expected, rel_tol=1e-9, abs_tol=1e-9
                )  # DuckDB adds in floating point
    assert next(questions, None) is None


def test_groups_are_duckdbs() -> None:
    rng = np.random.default_rng(8)
    table = pa.table(
        {
            "age": [None if value == 5 else int(value) for value in rng.integers(0, 6, 200)],
            "zip": rng.choice(["a", "B", "é"], 200),
            "salary": rng.integers(0, 250, 200),
        }
    )
    people = Microdata(table, confidential="salary", keys=["age", "zip"])
    opened = PeopleTable.of(people, schema_of(people))
    [statement] = parse(
        "SELECT zip, age, SUM(salary), COUNT(age) FROM people WHERE zip <> 'B' OR age > 2 GROUP BY age, zip",
        schema=opened.schema,
    )
    found = [question.answer for question in ask(opened, [statement]).questions]
    connection = duckdb.connect()
    connection.register("people", table)
    rows = connection.execute(
        statement.sql() + ' ORDER BY "age" NULLS LAST, "zip" COLLATE "binary"'
    ).fetchall()
    assert found == [answer for row in rows for answer in row[2:]]


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30),
    st.sampled_from([1, 10, 100, 10**6]),
)
def test_rounded_once(units: list[int], per_unit: int) -> None:
    values = ConfidentialValues(np.array(units) / per_unit)
    members = np.arange(len(units))
    exact = [Fraction(unit, per_unit) for unit in units]
    count = len(exact)
    mean = sum(exact, Fraction(0)) / count
    squares = sum(((value - mean) ** 2 for value in exact), Fraction(0))
    ordered = sorted(exact)
    assert values.answer("sum", members) == float(mean * count)
    assert values.answer("avg", members) == float(mean)
    assert values.answer("median", members) == float((ordered[(count - 1) // 2] + ordered[count // 2]) / 2)
    assert values.answer("var_pop", members) == float(squares / count)
    root = values.answer("stddev_pop", members)
    assert root is not None
    below, above = Fraction(math.nextafter(root, -1)), Fraction(math.nextafter(root, math.inf))
    assert max(below, Fraction(0)) ** 2 <= squares / count <= above**2
    if count > 1:
        assert values.answer("var_samp", members) == float(squares / (count - 1))


def test_large_values_do_not_overflow() -> None:
    values = ConfidentialValues(np.array([1e15, 1e15 - 2, 1.0]))
    exact = [Fraction(10**15), Fraction(10**15 - 2), Fraction(1)]
    mean = sum(exact, Fraction(0)) / 3
    expected = sum(((value - mean) ** 2 for value in exact), Fraction(0)) / 3
    assert values.answer("var_pop", np.arange(3)) == float(expected)


def test_nobody_and_one_person() -> None:
    values = ConfidentialValues(np.array([3.0, 5.0]))
    nobody, one = np.array([], np.int64), np.array([1])
    assert [values.answer(aggregate, nobody) for aggregate in AGGREGATES] == [0.0, *[None] * 9]
    assert [values.answer(aggregate, one) for aggregate in AGGREGATES] == [1, 5, 5, 5, 5, 5, 0, None, 0, None]
