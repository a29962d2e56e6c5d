"""The columns of a file before they have roles: type, distinct values, nulls, small bars. Memory stays bounded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from equivoc.attributes.written_values import MEASURED
from equivoc.data.as_read import TextFacts
from equivoc.data.read import FileGuess
from equivoc.data.read import guess as guess_file
from equivoc.data.roles import why_not_confidential
from equivoc.data.suggested_roles.suggest import Suggestions
from equivoc.data.tables import CsvTable, EngineTable, OtherTable, Table, open_table, reading_of
from equivoc.engines.duckdb import Scratch, scratch_beside, scratch_of
from equivoc.engines.parquet import ParquetTable
from equivoc.errors import InputError
from equivoc.reading.reading import GUESS, Reading
from equivoc.text import exact

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
    problem: str = ""
    """Why the column cannot be confidential as it is: numbers but for some words, or dates; "" if it can, or if the
    file is sampled."""
    measured: bool = False
    """True if some values are numbers in any notation, dates or times."""


@dataclass(frozen=True)
class Preview:
    """The columns of a file, and how many rows it has."""

    rows: int
    columns: tuple[Column, ...]
    sampled: bool
    """True if types and bars are those of a sample."""
    guess: FileGuess
    """How the file is read; of a sampled file, what its columns show is seen when the people are read."""


def preview(path: Path, *, given: Reading = GUESS) -> Preview:
    """Look at every column of a file, read as ``given`` says. InputError if it cannot be read."""
    import pyarrow as pa

    table = open_table(path, given=given)
    with ExitStack() as copies:
        if isinstance(table, OtherTable):
            own = [f"c{place}" for place in range(len(table.names))]
            held = pa.Table.from_batches(list(table.batches(table.names))).rename_columns(own)
            return _preview(path, scratch_of("whole", held), table, "whole", own, given)
        if isinstance(table, CsvTable):
            readable = copies.enter_context(table.file.readable())
            source, own = table.file.source(readable), [f"c{place}" for place in range(len(table.names))]
        else:
            assert isinstance(table, EngineTable)
            assert isinstance(table.engine, ParquetTable)
            readable, source = path, table.engine.source
            own = [table.engine.value(name).name for name in table.names]
        scratch = copies.enter_context(scratch_beside(readable))
        return _preview(path, scratch, table, source.sql(dialect="duckdb"), own, given)


def _preview(
    path: Path, scratch: Scratch, table: Table, source: str, own: list[str], given: Reading
) -> Preview:
    if len(own) > MOST_COLUMNS:
        raise InputError(f"the file has {len(own):,} columns; at most {MOST_COLUMNS:,} can be shown.")
    names = [_quoted(name) for name in own]

    def describe_damage() -> None:
        for _ in table.batches(list(table.names)):  # in our own words
            pass

    # All of the table is text here, cut to a bounded length.
    texts = ", ".join(f"left(CAST({name} AS VARCHAR), {LONGEST}) AS x{i}" for i, name in enumerate(names))
    scratch.fill(
        "sample",
        f"SELECT {texts} FROM {source} USING SAMPLE reservoir({SAMPLED + 1} ROWS) REPEATABLE (1)",
        on_damage=describe_damage,
    )
    rows = scratch.rows("SELECT count(*) FROM sample")[0][0]
    if not rows:
        raise InputError(f"{path} has no records, only column names: give at least one record.")
    sampled = rows > SAMPLED
    whole: tuple[Any, ...] = ()
    if sampled:
        counted = ", ".join(f"count({name}), approx_count_distinct({name})" for name in names)
        [(rows, *rest)] = scratch.rows(f"SELECT count(*), {counted} FROM {source}")
        whole = tuple(rest)
    columns = [
        _column(scratch, name, f"x{place}", rows, whole[2 * place : 2 * place + 2])
        for place, name in enumerate(table.names)
    ]
    if not sampled:
        doubtful = [column.name for column in columns if column.measured and column.type in ("text", "date")]
        why = why_not_confidential(table, doubtful, given=given)
        columns = [replace(column, problem=why.get(column.name, "")) for column in columns]
    guess = FileGuess(reading_of(table, given, TextFacts(), rows), (), "")
    if isinstance(table, CsvTable) and not sampled:
        guess = guess_file(path, **given.options)
    return Preview(rows, tuple(_as_read(columns, guess)), sampled, guess)


def _as_read(columns: list[Column], guessed: FileGuess) -> list[Column]:
    """The columns as they will be read: numbers in another notation are numbers, missing words are no values."""
    seen = {each.name: each for each in guessed.columns}
    found = []
    for column in columns:
        own = seen.get(column.name)
        if own is not None and own.missing:
            nulls = column.nulls + sum(own.missing.values())
            bars = tuple(bar for bar in column.bars if bar.label not in own.missing)
            distinct = max(0, column.distinct - len(own.missing))
            column = replace(column, nulls=nulls, distinct=distinct, bars=bars)
        if (
            column.type == "text"
            and own is not None
            and own.kind == "number"
            and (own.missing or own.decimals)
        ):
            column = replace(column, type="number")
        found.append(column)
    return found


def _column(scratch: Scratch, name: str, own: str, rows: int, counted: tuple[Any, ...]) -> Column:
    [(there, distinct, numbers, zeros, dates, truths, integers, longest, low, high, measured)] = scratch.rows(
        f"SELECT count({own}), count(DISTINCT {own}), count(TRY_CAST({own} AS DOUBLE)), "
        f"count(*) FILTER (regexp_matches({own}, '^-?0[0-9]')), count(TRY_CAST({own} AS DATE)), "
        f"count(*) FILTER (lower({own}) IN ('true', 'false')), "
        f"count(*) FILTER (TRY_CAST({own} AS DOUBLE) = round(TRY_CAST({own} AS DOUBLE))), "
        f"max(length({own})), min(TRY_CAST({own} AS DOUBLE)), max(TRY_CAST({own} AS DOUBLE)), "
        f"count(*) FILTER (regexp_matches(trim({own}), '{MEASURED}')) FROM sample",
    )
    kind: Type = "text"
    if there and truths == there:
        kind = "bool"
    elif there and numbers == there and not zeros and low is not None and abs(low) + abs(high) < float("inf"):
        kind = "number"
    elif there and dates == there:
        kind = "date"
    common = scratch.rows(
        f"SELECT {own}, count(*) AS n FROM sample WHERE {own} IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1 LIMIT {BARS}"
    )
    bars = (
        _ranges(scratch, own, float(low), float(high))
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
        measured=bool(measured),
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


def _ranges(scratch: Scratch, own: str, low: float, high: float) -> tuple[Bar, ...]:
    """The numbers in even ranges."""
    width = (high - low) / BARS
    if width <= 0:
        return ()
    found = dict(
        scratch.rows(
            f"SELECT least(CAST(floor((CAST({own} AS DOUBLE) - ?) / ?) AS INTEGER), {BARS - 1}), count(*) FROM sample "
            f"WHERE {own} IS NOT NULL GROUP BY 1",
            [low, width],
        )
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


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# The roles of columns on the page, from the library's suggestions.

Role = Literal["confidential", "key", "weights", "group", "leave_out"]
Kind = Literal["number", "ordered", "categories", "tree"]
MOST_KEYS = 8
"""With more keys nearly everybody is unique, and every subset of them takes time."""


@dataclass(frozen=True)
class Guess:
    """What a column is likely to be, and why."""

    role: Role
    kind: Kind
    reason: str
    suggested: str
    """The library's role, which may be one that the page leaves out: identifier, replicate weights."""


def guesses(columns: Sequence[Column], suggested: Suggestions) -> list[Guess]:
    """A guess for each column: at most one is confidential, one holds weights, and MOST_KEYS are keys."""
    confidential, weights, keys = (suggested.of(role) for role in ("confidential", "weights", "key"))
    found = []
    for column, each in zip(columns, suggested.columns, strict=True):
        role: Role = "leave_out"
        reason = each.reason
        if each.role == "confidential":
            if each.column == confidential[0]:
                role = "confidential"
            else:
                reason += f" The surest is {confidential[0]}; make this one confidential as well if both are."
        elif each.role == "weights":
            if each.column == weights[0]:
                role = "weights"
            else:
                reason += f" {weights[0]} seems to be the main weight."
        elif each.role == "group":
            if each.column == suggested.of("group")[0]:
                role = "group"
        elif each.role == "key":
            if each.column in keys[:MOST_KEYS]:
                role = "key"
            else:
                reason += f" It could be a key as well, but {MOST_KEYS} others are likelier; add it if she knows it."
        found.append(Guess(role, _kind(column), reason, each.role))
    return found


def _kind(column: Column) -> Kind:
    """Numbers but for some words, and dates, are not made categories: reading the people says what to do."""
    numbers = (
        column.type in ("number", "date") or column.problem or (column.measured and column.type == "text")
    )
    return "number" if numbers else "categories"
