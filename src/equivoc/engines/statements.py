"""The SQL that reads and counts, built once for every engine.

Each function returns a sqlglot expression; ``.sql(dialect=…)`` writes it for DuckDB, Spark or PostgreSQL.
Column names are always quoted, so any name is safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

COUNT = "n"


def column(name: str) -> exp.Expression:
    return exp.column(exp.to_identifier(name, quoted=True))


def offset(value: exp.Expression, *, low: int, span: int) -> exp.Expression:
    """An integer column as its distance from its least value: 0 … span − 1, and span for null."""
    distance = exp.Sub(this=exp.cast(value, "BIGINT"), expression=exp.Literal.number(low))
    small = exp.cast(exp.paren(distance), "SMALLINT" if span < 2**15 else "INT")
    return exp.Coalesce(this=small, expressions=[exp.Literal.number(span)])


def without_nan(value: exp.Expression) -> exp.Expression:
    """A floating-point column with null in place of not-a-number."""
    return exp.case().when(exp.IsNan(this=value.copy()), exp.null()).else_(value)


def rows(
    source: exp.Expression, columns: Mapping[str, exp.Expression], *, present: Sequence[exp.Expression] = ()
) -> exp.Select:
    """The named expressions of every row in which none of ``present`` is null, in the table's order."""
    chosen = exp.select(*(expression.as_(name, quoted=True) for name, expression in columns.items()))
    chosen = chosen.from_(source)
    return (
        chosen.where(*(expression.copy().is_(exp.null()).not_() for expression in present))
        if present
        else chosen
    )


def count(coded: exp.Select, names: Sequence[str]) -> exp.Select:
    """How many rows of ``coded`` there are of each combination of the named columns.

    The count is cast: engines disagree on the type of a count, and some answer in decimals.
    """
    names_quoted = [column(name) for name in names]
    total = exp.cast(exp.Count(this=exp.Star()), "BIGINT").as_(COUNT)
    counted = exp.select(*names_quoted, total).from_(coded.subquery("coded"))
    return counted.group_by(*names_quoted) if names else counted


def distinct(source: exp.Expression, value: exp.Expression) -> exp.Select:
    """The different values of a column, null among them."""
    return exp.select(value).from_(source).distinct()


def extent(source: exp.Expression, values: Sequence[exp.Expression]) -> exp.Select:
    """One row: how many rows; then each column's least value, greatest value and number of non-nulls."""
    wanted: list[exp.Expression] = [exp.cast(exp.Count(this=exp.Star()), "BIGINT")]
    for value in values:
        wanted += [exp.Min(this=value.copy()), exp.Max(this=value.copy())]
        wanted += [exp.cast(exp.Count(this=value.copy()), "BIGINT")]
    return exp.select(*(e.as_(f"e{i}") for i, e in enumerate(wanted))).from_(source)
