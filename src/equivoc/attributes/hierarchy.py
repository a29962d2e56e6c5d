"""Generalisation hierarchies: each step groups a key's values into fewer and larger groups, up to ``*``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.dates import PERIODS, day_of
from equivoc.attributes.hierarchy_files import read_hierarchy
from equivoc.attributes.level_text import STAR, is_number, written
from equivoc.errors import InputError


@dataclass(frozen=True, eq=False)
class Ladder:
    """The generalisation steps of one key. Step 0 is the levels themselves; at the last step all are ``*``."""

    groups: tuple[NDArray[np.int64], ...]
    """At each step, the number of the group of every level."""
    labels: tuple[tuple[str | None, ...], ...]
    """At each step, the label of each group; a null that is not generalised stays null."""

    @classmethod
    def of(cls, levels: Sequence[Any], steps: Iterable[Sequence[str | None]]) -> Ladder:
        """From the labels of each level at step 1, 2, …; a last step ``*`` is added if it is missing.

        >>> Ladder.of([20, 21, 35], [["20-29", "20-29", "30-39"]]).labels
        (('20', '21', '35'), ('20-29', '30-39'), ('*',))
        """
        groups, labels = [np.arange(len(levels))], [tuple(map(written, levels))]
        for step in [*steps, [STAR] * len(levels)]:
            if labels[-1] == (STAR,):
                break
            number = {label: at for at, label in enumerate(dict.fromkeys(step))}
            groups.append(np.array([number[label] for label in step], dtype=np.int64))
            labels.append(tuple(number))
        return cls(tuple(groups), tuple(labels))

    @property
    def top(self) -> int:
        """The number of the last step."""
        return len(self.groups) - 1


@dataclass(frozen=True)
class Hierarchy:
    """A table of values and their groups: each row is ``(value, step 1, step 2, …)``, as in ARX.

    A value has one row; every group of a step lies within one group of the next.

    >>> Hierarchy((("20", "20-29", "adult"), ("21", "20-29", "child")), source="age.csv")
    Traceback (most recent call last):
    equivoc.errors.InputError: the hierarchy age.csv is not a tree: '20-29' belongs to 'adult' (row 1) and to 'child' \
(row 2); give it one parent.
    """

    rows: tuple[tuple[str, ...], ...]
    source: str = field(default="(no file)", compare=False)
    """Its file or name, for messages and notations."""
    names: tuple[str, ...] = field(default=(), compare=False)
    """Names of the levels above the values, from the lowest; empty if they have none."""

    lines: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """The line of each row in the file; empty if there is no file."""

    def __post_init__(self) -> None:
        if not self.rows:
            raise InputError(f"the hierarchy {self.source} is empty; give a row for each value of the key.")
        wide = len(self.rows[0])
        first: dict[str, int] = {}
        above: dict[tuple[int, str], tuple[str, int]] = {}
        for number, row in enumerate(self.rows):
            if len(row) != wide or wide < 2:
                raise InputError(
                    f"the hierarchy {self.source} has {len(row)} cells in the row of {row[0]!r} ({self._at(number)}), "
                    f"but rows need a value and its groups, {max(wide, 2)} cells here."
                )
            if "" in row[1:]:
                raise InputError(
                    f"the hierarchy {self.source} has an empty group in the row of {row[0]!r} ({self._at(number)}); "
                    f"write a label, such as {STAR}."
                )
            if row[0] in first:
                raise InputError(
                    f"the hierarchy {self.source} has two rows for {row[0]!r} ({self._at(first[row[0]])} and "
                    f"{self._at(number)}); keep one."
                )
            first[row[0]] = number
            for level in range(1, wide - 1):
                group, into = row[level], row[level + 1]
                other, where = above.setdefault((level, group), (into, number))
                if other != into:
                    raise InputError(
                        f"the hierarchy {self.source} is not a tree: {group!r} belongs to {other!r} "
                        f"({self._at(where)}) and to {into!r} ({self._at(number)}); give it one parent."
                    )

    def _at(self, row: int) -> str:
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"

    def __str__(self) -> str:
        return self.source

    @classmethod
    def read(cls, path: Path, *, key: str) -> Hierarchy:
        """From a CSV file as ARX writes it, or a ``.hrc`` file of τ-ARGUS (`read_hierarchy`)."""
        found = read_hierarchy(path, key=key)
        return cls(found.rows, source=str(path), names=found.names, lines=found.lines)

    @classmethod
    def of(cls, given: Any, *, key: str) -> Hierarchy:
        """From a file, a mapping of values to their groups, or a frame whose first column is the values.

        >>> Hierarchy.of({"flu": ["lungs", "body"], "asthma": ["lungs", "body"]}, key="disease").rows
        (('flu', 'lungs', 'body'), ('asthma', 'lungs', 'body'))
        """
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, (str, os.PathLike)):
            return cls.read(Path(given), key=key)
        source = f"of {key!r}"
        if isinstance(given, Mapping):
            groups = ([step] if isinstance(step, str) else step for step in given.values())
            lists = [list(step) if isinstance(step, Iterable) else [step] for step in groups]
            rows = [(_cell(leaf), *map(_cell, steps)) for leaf, steps in zip(given, lists, strict=True)]
            return cls(tuple(rows), source=source)
        if hasattr(given, "to_arrow_table"):  # DuckDB
            given = given.to_arrow_table()
        if hasattr(given, "to_pydict"):  # Arrow
            columns = given.to_pydict()
        elif hasattr(given, "columns") and hasattr(given, "__getitem__"):  # pandas, polars
            columns = {str(name): list(given[name]) for name in given.columns}
        else:
            raise InputError(
                f"the hierarchy {source} is a {type(given).__name__}: give a CSV file, a mapping or a frame, "
                "leaf first, then its parents."
            )
        cells = (tuple(map(_cell, row)) for row in zip(*columns.values(), strict=True))
        return cls(tuple(cells), source=source, names=tuple(columns)[1:])

    def level_names(self, top: int) -> tuple[str, ...]:
        """The name of each height above the values, up to the root at height ``top``."""
        given = len(self.rows[0]) - 1
        named = self.names if len(self.names) == given else tuple(f"level {i}" for i in range(1, given + 1))
        return (*named, "any")[:top] if len(named) < top else named[:top]

    def knows(self, levels: Sequence[Any]) -> list[bool]:
        """True if each of these values has a row."""
        return [self._row(level) is not None for level in levels]

    @cached_property
    def _row_of(self) -> dict[str | Decimal, tuple[str, ...]]:
        """Rows by the value as text and, for numbers, also as a number."""
        found: dict[str | Decimal, tuple[str, ...]] = {}
        for row in self.rows:
            number = _decimal(row[0])
            if number is not None:
                found.setdefault(number, row)
        return {**found, **{row[0]: row for row in self.rows}}

    def _row(self, level: Any) -> tuple[str, ...] | None:
        """The row of a value, found by its text or, for a number, by its numeric value."""
        text = written(level)
        row = self._row_of.get(text or "")
        return self._row_of.get(Decimal(text)) if row is None and text and is_number(level) else row

    def ladder(self, key: str, levels: Sequence[Any]) -> Ladder:
        """The steps of these levels; InputError names the first value that has no row. A null needs none."""
        rows = []
        for level in levels:
            text, row = written(level), self._row(level)
            if row is None and text is not None:
                raise InputError(
                    f"key {key!r} has the value {text!r}, which is not in the hierarchy {self.source}; "
                    "add a row for it."
                )
            rows.append(row)
        steps = range(1, len(self.rows[0]))
        # A null stays null below the top step, where all values are one group.
        return Ladder.of(
            levels, [_starred([None if row is None else row[step] for row in rows]) for step in steps]
        )


@dataclass(frozen=True)
class Intervals:
    """Numbers into intervals ``[low,high)`` of each width in turn; every width is a multiple of the one before.

    >>> Intervals.of((10, 20)).ladder("age", [18, 25, 31, None]).labels[1:]
    (('[10,20)', '[20,30)', '[30,40)', None), ('[0,20)', '[20,40)', None), ('*',))
    """

    widths: tuple[Decimal, ...]

    def __post_init__(self) -> None:
        for width in self.widths:
            if not (width.is_finite() and width > 0):
                raise InputError(f"an interval's width is {width}; it must be above 0.")
        for narrow, wide in zip(self.widths, self.widths[1:], strict=False):
            if wide <= narrow or wide % narrow:
                raise InputError(
                    f"intervals of {narrow} do not nest in intervals of {wide}; give a multiple of {narrow}."
                )

    @classmethod
    def of(cls, widths: Any) -> Intervals:
        """From one width or several, as numbers or as text (``5/10``)."""
        if isinstance(widths, str):
            widths = widths.split("/")
        given = list(widths) if isinstance(widths, Iterable) else [widths]
        found = [None if isinstance(width, bool) else _decimal(str(width)) for width in given]
        if None in found or not found:
            raise InputError(
                f"the widths of intervals are {widths!r}; give numbers such as 10 or (5, 10, 20)."
            )
        return cls(tuple(width for width in found if width is not None))

    def __str__(self) -> str:
        return "/".join(map(_plain, self.widths))

    def ladder(self, key: str, levels: Sequence[Any]) -> Ladder:
        """The steps of these levels; InputError names the first value that is not a number. A null stays null."""
        for level in levels:
            if not (level is None or is_number(level)):
                raise InputError(
                    f"key {key!r} has the value {written(level)!r}, which is in no interval; "
                    "give a hierarchy from a CSV file for it."
                )
        numbers = [None if level is None else Decimal(str(level)) for level in levels]
        return Ladder.of(
            levels,
            [[None if n is None else _interval(n, width) for n in numbers] for width in self.widths],
        )


@dataclass(frozen=True)
class Calendar:
    """Dates into periods, each longer than the one before: day, month, quarter, year, decade.

    >>> Calendar.of("quarter/year").ladder("birth", ["1980-05-03", "1981-12-31", None]).labels[1:]
    (('1980-Q2', '1981-Q4', None), ('1980', '1981', None), ('*',))
    """

    periods: tuple[str, ...]

    def __post_init__(self) -> None:
        order = list(PERIODS)
        at = [order.index(period) for period in self.periods]
        if at != sorted(set(at)):
            raise InputError(
                f"the periods of dates are {self}; give each once, the shortest first, such as month/year."
            )

    @classmethod
    def of(cls, given: Any) -> Calendar:
        """From periods, or from text such as ``month/year``."""
        return cls(tuple(os.fspath(given).split("/") if isinstance(given, (str, os.PathLike)) else given))

    @staticmethod
    def fits(given: Any) -> bool:
        """True for one or several names of periods, or their text."""
        words = os.fspath(given).split("/") if isinstance(given, (str, os.PathLike)) else given
        return isinstance(words, (list, tuple)) and bool(words) and all(each in PERIODS for each in words)

    def __str__(self) -> str:
        return "/".join(self.periods)

    def level_names(self, top: int) -> tuple[str, ...]:
        """The name of each height above the values, up to the root at height ``top``."""
        return (*self.periods, "any")[:top]

    def knows(self, levels: Sequence[Any]) -> list[bool]:
        """True if each of these values is a date."""
        return [day_of(level) is not None for level in levels]

    def ladder(self, key: str, levels: Sequence[Any]) -> Ladder:
        """The steps of these levels; InputError names the first value that is not a date. A null stays null."""
        days = [None if level is None else day_of(level) for level in levels]
        for level, day in zip(levels, days, strict=True):
            if day is None and level is not None:
                raise InputError(
                    f"key {key!r} has the value {written(level)!r}, which is not a date such as 2020-01-31; give a "
                    "hierarchy from a CSV file for it."
                )
        steps = [[None if day is None else PERIODS[period](day) for day in days] for period in self.periods]
        return Ladder.of(levels, steps)


Rule = Hierarchy | Intervals | Calendar
"""How the values of a key are generalised."""


def _interval(number: Decimal, width: Decimal) -> str:
    low = (number / width).to_integral_value(ROUND_FLOOR) * width
    return f"[{_plain(low)},{_plain(low + width)})"


def _plain(number: Decimal) -> str:
    return f"{number.normalize() + 0:f}"


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _cell(given: Any) -> str:
    return (written(given) or "").strip()


def _starred(step: Sequence[str | None]) -> Sequence[str | None]:
    return [STAR] * len(step) if set(step) <= {STAR, None} else step
