"""The SQL, word by word: sqlglot's builders ignore what they do not know."""

from __future__ import annotations

import pytest
from sqlglot import exp

from equivoc.engines import statements

QUOTED = {"duckdb": '"{}"', "postgres": '"{}"', "spark": "`{}`"}


@pytest.mark.parametrize("dialect", list(QUOTED))
def test_counting(dialect: str) -> None:
    a, b, select = (QUOTED[dialect].format(name) for name in ("a", "b", "select"))
    coded = statements.rows(
        exp.to_table("people"),
        {"a": statements.offset(statements.column("select"), low=-3, span=9), "b": statements.column("b")},
        present=[statements.column("b")],
    )
    inner = (
        f"SELECT COALESCE(CAST((CAST({select} AS BIGINT) - -3) AS SMALLINT), 9) AS {a}, {b} AS {b} "
        f"FROM people WHERE NOT {b} IS NULL"
    )
    assert statements.count(coded, ["a", "b"]).sql(dialect=dialect) == (
        f"SELECT {a}, {b}, CAST(COUNT(*) AS BIGINT) AS n FROM ({inner}) AS coded GROUP BY {a}, {b}"
    )


def test_names_are_quoted() -> None:
    assert statements.distinct(exp.to_table("t"), statements.column('a"; DROP TABLE t; --')).sql(
        dialect="duckdb"
    ) == ('SELECT DISTINCT "a""; DROP TABLE t; --" FROM t')


def test_extent() -> None:
    assert statements.extent(exp.to_table("t"), [statements.column("a")]).sql(dialect="duckdb") == (
        'SELECT CAST(COUNT(*) AS BIGINT) AS e0, MIN("a") AS e1, MAX("a") AS e2, '
        'CAST(COUNT("a") AS BIGINT) AS e3 FROM t'
    )


def test_wide_offsets_use_a_wider_type() -> None:
    assert "AS INT)" in statements.offset(statements.column("a"), low=0, span=2**15).sql(dialect="duckdb")
