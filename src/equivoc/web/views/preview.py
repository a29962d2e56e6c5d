"""The columns of a file before they have roles: type, distinct values, nulls, small bars. Memory stays bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb

from equivoc.data.reading.tables import CsvTable, EngineTable, open_table
from equivoc.engines.duckdb import connect, reading
from equivoc.engines.parquet import ParquetTable
from equivoc.errors import InputError
from equivoc.number_format import exact

SAMPLED = 100_000
"""Rows that are looked at in detail; larger files are sampled, and only their nulls and distinct values are counted."""
LONGEST = 200
"""Characters of a value that are looked at."""
BARS = 12
RARE = 3
"""Values of fewer people are shown together."""
MOST_COLUMNS = 1000

Type = Literal["number", "text", "date", "bool"]


@dataclass(frozen=True)
class Bar:
    """How often a value, or a range of values, occurs."""

    label: str
    count: int


@dataclass(frozen=True)
class Column:
    """What the preview shows of a column."""

    name: str
    type: Type
    distinct: int
    """Different values; an estimate for files with more than SAMPLED rows."""
    nulls: int
    sample: tuple[str, ...]
    bars: tuple[Bar, ...]
    whole: bool = field(default=False)
    """True if all numbers are whole."""
    longest: int = 0
    """The most characters of a value, up to LONGEST."""


@dataclass(frozen=True)
class Preview:
    """The columns of a file, and how many rows it has."""

    rows: int
    columns: tuple[Column, ...]
    sampled: bool
    """True if types and bars are those of a sample."""


def preview(path: Path) -> Preview:
    """Look at every column of a CSV or Parquet file. InputError if it cannot be read."""
    table = open_table(path)
    if isinstance(table, CsvTable):
        source, own = table.file.source, [f"c{place}" for place in range(len(table.names))]
    else:
        assert isinstance(table, EngineTable)
        assert isinstance(table.engine, ParquetTable)
        source, own = table.engine.source, [table.engine.value(name).name for name in table.names]
    if len(own) > MOST_COLUMNS:
        raise InputError(f"the file has {len(own):,} columns; at most {MOST_COLUMNS:,} can be shown.")
    names = [_quoted(name) for name in own]
    with reading(path), connect(path) as connection:
        # All of the table is text here, cut to a bounded length.
        texts = ", ".join(f"left(CAST({name} AS VARCHAR), {LONGEST}) AS x{i}" for i, name in enumerate(names))
        try:
            connection.execute(
                f"CREATE TABLE sample AS SELECT {texts} FROM {source.sql(dialect='duckdb')} "
                f"USING SAMPLE reservoir({SAMPLED + 1} ROWS) REPEATABLE (1)"
            )
        except duckdb.InvalidInputException:
            for _ in table.batches(list(table.names)):  # describes a damaged file in our own words
                pass
            raise
        rows = _one(connection, "SELECT count(*) FROM sample")[0]
        if not rows:
            raise InputError(f"{path} has no records, only column names: give at least one record.")
        sampled = rows > SAMPLED
        whole: tuple[Any, ...] = ()
        if sampled:
            counted = ", ".join(f"count({name}), approx_count_distinct({name})" for name in names)
            rows, *rest = _one(connection, f"SELECT count(*), {counted} FROM {source.sql(dialect='duckdb')}")
            whole = tuple(rest)
        columns = [
            _column(connection, name, f"x{place}", rows, whole[2 * place : 2 * place + 2])
            for place, name in enumerate(table.names)
        ]
    return Preview(rows, tuple(columns), sampled)


def _column(
    connection: duckdb.DuckDBPyConnection, name: str, own: str, rows: int, counted: tuple[Any, ...]
) -> Column:
    there, distinct, numbers, zeros, dates, truths, integers, longest, low, high = _one(
        connection,
        f"SELECT count({own}), count(DISTINCT {own}), count(TRY_CAST({own} AS DOUBLE)), "
        f"count(*) FILTER (regexp_matches({own}, '^-?0[0-9]')), count(TRY_CAST({own} AS DATE)), "
        f"count(*) FILTER (lower({own}) IN ('true', 'false')), "
        f"count(*) FILTER (TRY_CAST({own} AS DOUBLE) = round(TRY_CAST({own} AS DOUBLE))), "
        f"max(length({own})), min(TRY_CAST({own} AS DOUBLE)), max(TRY_CAST({own} AS DOUBLE)) FROM sample",
    )
    kind: Type = "text"
    if there and truths == there:
        kind = "bool"
    elif there and numbers == there and not zeros and low is not None and abs(low) + abs(high) < float("inf"):
        kind = "number"
    elif there and dates == there:
        kind = "date"
    common = connection.sql(
        f"SELECT {own}, count(*) AS n FROM sample WHERE {own} IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1 LIMIT {BARS}"
    ).fetchall()
    bars = (
        _ranges(connection, own, float(low), float(high))
        if kind == "number" and distinct > BARS
        else _values(common, there, distinct, kind)
    )
    nulls = rows - counted[0] if counted else rows - there
    return Column(
        name,
        kind,
        int(counted[1] if counted else distinct),
        int(nulls),
        tuple(str(value) for value, _ in common[:3]),
        bars,
        whole=bool(there and integers == there),
        longest=int(longest or 0),
    )


def _values(common: list[tuple[str, int]], there: int, distinct: int, kind: Type) -> tuple[Bar, ...]:
    """The most frequent values; rare ones and those left out are one bar at the end."""
    shown = [(value, count) for value, count in common if count >= RARE]
    if len(shown) == distinct:
        pass
    elif len(shown) == BARS:
        shown = shown[:-1]
    if kind == "number":
        shown = sorted(shown, key=lambda each: float(each[0]))
    rest = there - sum(count for _, count in shown)
    return (*(Bar(str(value), int(count)) for value, count in shown), *([Bar("other", rest)] if rest else []))


def _ranges(connection: duckdb.DuckDBPyConnection, own: str, low: float, high: float) -> tuple[Bar, ...]:
    """The numbers in even ranges."""
    width = (high - low) / BARS
    if width <= 0:
        return ()
    found = dict(
        connection.execute(
            f"SELECT least(CAST(floor((CAST({own} AS DOUBLE) - ?) / ?) AS INTEGER), {BARS - 1}), count(*) FROM sample "
            f"WHERE {own} IS NOT NULL GROUP BY 1",
            [low, width],
        ).fetchall()
    )
    return tuple(
        Bar(
            f"{exact(_short(low + place * width))} to {exact(_short(low + (place + 1) * width))}",
            found.get(place, 0),
        )
        for place in range(BARS)
    )


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    found: tuple[Any, ...] = connection.sql(sql).fetchall()[0]
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
