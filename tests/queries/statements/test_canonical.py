"""Equal questions have equal text, in any dialect; the text is written anew."""

from __future__ import annotations

import pytest

from equivoc.sql.parsing import parse_one
from equivoc.sql.schema import Schema

SCHEMA = Schema(
    (
        ("age", "integer"),
        ("zip", "text"),
        ("is member", "boolean"),
        ("hired", "date"),
        ("seen", "timestamp with zone"),
        ("rate", "float"),
        ('a"b;', "text"),
    ),
    "salary",
)


@pytest.mark.parametrize(
    ("text", "duckdb", "postgres"),
    [
        ("select sum(SALARY) from PEOPLE", 'SELECT SUM("salary") FROM "people"', None),
        (
            "SELECT VARIANCE(salary), VAR_SAMP(salary), VAR_POP(salary), STDDEV(salary), STDDEV_POP(salary) "
            "FROM people",
            'SELECT VARIANCE("salary"), VARIANCE("salary"), VAR_POP("salary"), STDDEV_SAMP("salary"), '
            'STDDEV_POP("salary") FROM "people"',
            'SELECT VAR_SAMP("salary"), VAR_SAMP("salary"), VAR_POP("salary"), STDDEV_SAMP("salary"), '
            'STDDEV_POP("salary") FROM "people"',
        ),
        (
            "SELECT zip, MEDIAN(salary), COUNT(*), COUNT(age), COUNT(salary) FROM people GROUP BY zip, zip",
            'SELECT "zip", MEDIAN("salary"), COUNT(*), COUNT("age"), COUNT(*) FROM "people" GROUP BY "zip"',
            'SELECT "zip", PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "salary"), COUNT(*), COUNT("age"), COUNT(*) '
            'FROM "people" GROUP BY "zip"',
        ),
        (
            "SELECT AVG(salary) FROM people WHERE zip = '02139' AND 30 <= Age AND NOT (\"age\" > 40.50 OR zip IS NULL)",
            'SELECT AVG("salary") FROM "people" WHERE "age" <= 40.5 AND "age" >= 30 AND "zip" = \'02139\' '
            'AND NOT "zip" IS NULL',
            None,
        ),
        (
            "SELECT MIN(salary) FROM people WHERE zip < 'm' OR zip BETWEEN 'a' AND 'it''s' OR zip LIKE 'a\\_%'",
            'SELECT MIN("salary") FROM "people" WHERE "zip" BETWEEN \'a\' AND \'it\'\'s\' OR "zip" < \'m\' '
            "OR \"zip\" LIKE 'a\\_%'",
            'SELECT MIN("salary") FROM "people" WHERE "zip" COLLATE "C" BETWEEN \'a\' AND \'it\'\'s\' '
            "OR \"zip\" COLLATE \"C\" < 'm' OR \"zip\" LIKE 'a\\_%' ESCAPE ''",
        ),
        (
            'SELECT MAX(salary) FROM people WHERE "is member" <> FALSE AND hired IN (\'20200102\', \'2020-01-01\') '
            "AND (rate = 0.10 OR rate > -1e-7 AND age IN (5, 4, 5.0))",
            'SELECT MAX("salary") FROM "people" WHERE "is member" <> FALSE '
            "AND \"hired\" IN ('2020-01-01', '2020-01-02') "
            'AND (("rate" > -1e-07 AND "age" IN (4, 5)) OR "rate" = 0.1)',
            None,
        ),
        (
            "SELECT COUNT(*) FROM people WHERE seen >= '2020-01-01 01:00:00+01:00' AND \"a\"\"b;\" NOT IN ('x')",
            'SELECT COUNT(*) FROM "people" WHERE "a""b;" <> \'x\' AND "seen" >= \'2020-01-01 00:00:00+00:00\'',
            None,
        ),
    ],
)  # fmt: skip
def test_written_anew(text: str, duckdb: str, postgres: str | None) -> None:
    statement = parse_one(text, schema=SCHEMA)
    assert statement.sql() == duckdb
    assert statement.sql("postgres") == (postgres or duckdb)
    assert parse_one(duckdb, schema=SCHEMA).sql() == duckdb


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age = 1 AND zip = 'a'", "(ZIP = 'a') and 1.0 = age"),
        ("NOT (age = 1 OR zip LIKE 'a')", "zip NOT LIKE 'a' AND age <> 1"),
        ("NOT NOT age BETWEEN 1 AND 2", "age BETWEEN 01 AND 2e0"),
        ("NOT age NOT IN (1, 2)", "age IN (2, 1, 2)"),
        ("age IN (3)", "3 = age"),
        ("NOT age < 3", "3 <= age"),
        ("age = 1 OR (age = 2 OR age = 3)", "(age = 3 OR age = 1) OR age = 2 OR age = 1"),
        ("NOT (NOT age IS NULL)", "age IS NULL"),
        ("rate = 100", "rate = 1e2"),
        ("age = -0", "age = 0"),
        ("age = 100 AND age = 2", "age = 2 AND age = 1e2"),
    ],
)
def test_equal_conditions_have_equal_text(one: str, other: str) -> None:
    left, right = (parse_one(f"SELECT COUNT(*) FROM people WHERE {c}", schema=SCHEMA) for c in (one, other))
    assert left == right
    assert left.sql() == right.sql()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age = 1 AND zip = 'a' OR rate = 1", "age = 1 AND (zip = 'a' OR rate = 1)"),
        ("NOT age = 1 AND zip = 'a'", "NOT (age = 1 AND zip = 'a')"),
        ("zip = '1'", "zip = '01'"),
        ("zip = 'a'", "zip = 'A'"),
        ("zip LIKE '_'", "zip LIKE '%'"),
        ("age < 1", "age <= 1"),
        ("1 < age", "age < 1"),
        ("age BETWEEN 1 AND 2", "age BETWEEN 2 AND 1"),
        ("zip = 'a'", '"a""b;" = \'a\''),
    ],
)
def test_different_conditions_have_different_text(one: str, other: str) -> None:
    left, right = (parse_one(f"SELECT COUNT(*) FROM people WHERE {c}", schema=SCHEMA) for c in (one, other))
    assert left.sql() != right.sql()
