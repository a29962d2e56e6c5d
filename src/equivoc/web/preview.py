"""The columns of a file before they have roles: type, distinct values, nulls, small bars. Memory stays bounded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from equivoc.attributes.written_values import MEASURED
from equivoc.data import read as people_files
from equivoc.data.roles import why_not_confidential
from equivoc.data.tables import CsvTable, EngineTable, open_table
from equivoc.engines.duckdb import Scratch, scratch_beside
from equivoc.engines.parquet import ParquetTable
from equivoc.errors import InputError
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


def preview(path: Path) -> Preview:
    """Look at every column of a CSV or Parquet file. InputError if it cannot be read."""
    table = open_table(path)
    with ExitStack() as copies:
        if isinstance(table, CsvTable):
            readable = copies.enter_context(table.file.readable())
            source, own = table.file.source(readable), [f"c{place}" for place in range(len(table.names))]
        else:
            assert isinstance(table, EngineTable)
            assert isinstance(table.engine, ParquetTable)
            readable, source = path, table.engine.source
            own = [table.engine.value(name).name for name in table.names]
        return _preview(path, readable, table, source, own)


def _preview(
    path: Path, readable: Path, table: CsvTable | EngineTable, source: Any, own: list[str]
) -> Preview:
    if len(own) > MOST_COLUMNS:
        raise InputError(f"the file has {len(own):,} columns; at most {MOST_COLUMNS:,} can be shown.")
    names = [_quoted(name) for name in own]

    def describe_damage() -> None:
        for _ in table.batches(list(table.names)):  # in our own words
            pass

    with scratch_beside(readable) as scratch:
        # All of the table is text here, cut to a bounded length.
        texts = ", ".join(f"left(CAST({name} AS VARCHAR), {LONGEST}) AS x{i}" for i, name in enumerate(names))
        scratch.fill(
            "sample",
            f"SELECT {texts} FROM {source.sql(dialect='duckdb')} "
            f"USING SAMPLE reservoir({SAMPLED + 1} ROWS) REPEATABLE (1)",
            on_damage=describe_damage,
        )
        rows = scratch.rows("SELECT count(*) FROM sample")[0][0]
        if not rows:
            raise InputError(f"{path} has no records, only column names: give at least one record.")
        sampled = rows > SAMPLED
        whole: tuple[Any, ...] = ()
        if sampled:
            counted = ", ".join(f"count({name}), approx_count_distinct({name})" for name in names)
            [(rows, *rest)] = scratch.rows(f"SELECT count(*), {counted} FROM {source.sql(dialect='duckdb')}")
            whole = tuple(rest)
        columns = [
            _column(scratch, name, f"x{place}", rows, whole[2 * place : 2 * place + 2])
            for place, name in enumerate(table.names)
        ]
    if not sampled:
        doubtful = [column.name for column in columns if column.measured and column.type in ("text", "date")]
        why = why_not_confidential(table, doubtful)
        columns = [replace(column, problem=why.get(column.name, "")) for column in columns]
        if isinstance(table, CsvTable):
            columns = _as_read(path, columns)
    return Preview(rows, tuple(columns), sampled)


def _as_read(path: Path, columns: list[Column]) -> list[Column]:
    """Columns of text that are numbers in another notation, or numbers but for missing words, as they will be read."""
    seen = {each.name: each for each in people_files.guess(path).columns}
    found = []
    for column in columns:
        own = seen.get(column.name)
        if (
            column.type == "text"
            and own is not None
            and own.kind == "number"
            and (own.missing or own.decimals)
        ):
            column = replace(column, type="number", nulls=column.nulls + sum(own.missing.values()))
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


# Guesses the roles of columns from their names and values, each with its reason in one sentence.

Role = Literal["confidential", "key", "weights", "leave_out"]
Kind = Literal["number", "ordered", "categories", "tree"]
CONFIDENTIAL = (
    "salary", "wage", "income", "earning", "pay", "diagnosis", "disease", "illness", "debt", "wealth", "loan",
    "balance", "religion", "hiv", "expenditure", "tax", "turnover", "revenue", "profit",
)  # fmt: skip
"""Words in the names of columns that are usually confidential, the surest first."""
WEIGHTS = ("weight", "wgt", "wt", "weights", "pweight", "perwt", "gewicht", "poids")
IDENTIFIER = re.compile(
    r"(^|_|\b)(id|uuid|ssn|name|surname|phone|email|e_mail|address|iban|number_of_row)(_|\b|$)"
)
FEW = 100
"""A column with at most so many values can be a key."""
MANY_SHARE = 0.5
"""A text column with more distinct values than this share of the rows says who somebody is."""
MOST_KEYS = 6


@dataclass(frozen=True)
class Guess:
    """What a column is likely to be, and why."""

    role: Role
    kind: Kind
    reason: str


def guesses(columns: Sequence[Column], rows: int) -> list[Guess]:
    """A guess for each column: exactly one is confidential, and at most MOST_KEYS are keys."""
    found = [_alone(column, rows) for column in columns]
    chosen = _confidential(columns, found, rows)
    for place, (column, guess) in enumerate(zip(columns, found, strict=True)):
        if place == chosen:
            found[place] = Guess("confidential", _kind(column), _why_confidential(column))
        elif guess.role == "confidential":
            found[place] = Guess(
                "leave_out",
                guess.kind,
                "Its name also suggests something confidential; one column is assessed at a time.",
            )
    keys = sorted(
        (place for place, guess in enumerate(found) if guess.role == "key"),
        key=lambda place: (_word(columns[place].name, LIKELY_KEYS) is None, place),
    )
    for place in keys[MOST_KEYS:]:
        found[place] = Guess(
            "leave_out",
            found[place].kind,
            f"It could be a key, but {MOST_KEYS} others are likelier ones; add it if she knows it.",
        )
    return found


LIKELY_KEYS = (
    "age",
    "sex",
    "gender",
    "region",
    "zip",
    "education",
    "occupation",
    "industry",
    "marital",
    "race",
    "birth",
)


def _alone(column: Column, rows: int) -> Guess:
    """The guess from a column by itself."""
    name, kind = column.name.casefold(), _kind(column)
    words = set(re.split(r"[^a-z0-9]+", name))
    if column.type == "number" and (words & set(WEIGHTS)):
        return Guess("weights", "number", "Its name says that it holds survey weights.")
    if column.distinct <= 1:
        return Guess("leave_out", kind, "Everybody has the same value, so it tells nothing.")
    if IDENTIFIER.search(name):
        return Guess(
            "leave_out",
            kind,
            "Its name says that it identifies people directly, so it must not be published.",
        )
    if column.type == "text" and kind != "number" and column.distinct > MANY_SHARE * rows and rows > 20:
        return Guess(
            "leave_out",
            kind,
            "Nearly everybody has a text of their own: it identifies people, or is free text.",
        )
    if column.type == "number" and column.whole and column.distinct >= 0.99 * rows and rows > 20:
        return Guess(
            "leave_out", kind, "Nearly everybody has a number of their own, as in a column of identifiers."
        )
    if _word(name, CONFIDENTIAL) is not None:
        return Guess("confidential", kind, _why_confidential(column))
    if column.distinct <= FEW:
        return Guess(
            "key", kind, f"It has {column.distinct} different values, which others may know of a person."
        )
    if column.type == "number":
        return Guess(
            "leave_out",
            kind,
            f"It has {column.distinct:,} different numbers; make it a key if others know them.",
        )
    return Guess("leave_out", kind, f"It has {column.distinct:,} different values, too many for a usual key.")


def _confidential(columns: Sequence[Column], found: Sequence[Guess], rows: int) -> int | None:
    """The place of the column to protect: by its name, else the number with most values, else the last candidate."""
    named = [place for place, guess in enumerate(found) if guess.role == "confidential"]
    if named:
        return min(named, key=lambda place: _word(columns[place].name, CONFIDENTIAL) or 0)
    numbers = [
        place
        for place, column in enumerate(columns)
        if column.type == "number"
        and found[place].role in ("key", "leave_out")
        and 1 < column.distinct < 0.99 * max(rows, 2)
        and not IDENTIFIER.search(column.name.casefold())
        and _word(column.name, LIKELY_KEYS) is None
    ]
    if numbers:
        return max(numbers, key=lambda place: columns[place].distinct)
    keys = [place for place, guess in enumerate(found) if guess.role == "key"]
    return keys[-1] if keys else None


def _why_confidential(column: Column) -> str:
    place = _word(column.name, CONFIDENTIAL)
    if place is not None:
        return f"Its name contains “{CONFIDENTIAL[place]}”, which people usually keep to themselves."
    if column.type == "number":
        return f"Of the columns of numbers it has the most different values ({column.distinct:,})."
    return "It is the last column that could be confidential; no name gave a hint."


def _kind(column: Column) -> Kind:
    """Numbers but for some words, and dates, are not made categories: reading the people says what to do."""
    numbers = (
        column.type in ("number", "date") or column.problem or (column.measured and column.type == "text")
    )
    return "number" if numbers else "categories"


def _word(name: str, words: Sequence[str]) -> int | None:
    """The place of the first word that the name contains; None if it contains none."""
    return next((place for place, word in enumerate(words) if word in name.casefold()), None)
