"""Hierarchies of a key's values: from the values, step by step, into fewer and larger groups, up to ``*``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.level_text import STAR, is_number, written
from equivoc.errors import InputError
from equivoc.files import check_readable

SEPARATORS = (";", "\t", ",")
HEADERS = ("value", "values")
"""What the first cell of a header may say, besides the key's name."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """One key's levels on their way up. Step 0 is the levels themselves; at the last step all are ``*``."""

    groups: tuple[NDArray[np.int64], ...]
    """At each step, the number of the group of every level."""
    labels: tuple[tuple[str | None, ...], ...]
    """At each step, how each group is written; a null that is not generalised stays null."""

    @classmethod
    def of(cls, levels: Sequence[Any], steps: Iterable[Sequence[str | None]]) -> Ladder:
        """From what each level is written as at step 1, 2, …; ``*`` is added on top where it is not there yet.

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
    """A table of values and what they become: each row ``(value, step 1, step 2, …)``, as in ARX.

    A value has one row; every group of a step lies within one group of the next.

    >>> Hierarchy((("20", "20-29", "adult"), ("21", "20-29", "child")), source="age.csv")
    Traceback (most recent call last):
    equivoc.errors.InputError: the hierarchy age.csv is not nested: '21' becomes 'child' at level 2, but others of \
'20-29' become 'adult'; give all of them one group.
    """

    rows: tuple[tuple[str, ...], ...]
    source: str = field(default="(no file)", compare=False)
    """Where it comes from: how messages and the command line call it."""

    def __post_init__(self) -> None:
        if not self.rows:
            raise InputError(f"the hierarchy {self.source} is empty; give a row for each value of the key.")
        wide, seen = len(self.rows[0]), set()
        above: dict[tuple[int, str], str] = {}
        for number, row in enumerate(self.rows, start=1):
            if len(row) != wide or wide < 2:
                raise InputError(
                    f"the hierarchy {self.source} has {len(row)} cells in the row of {row[0]!r} (row {number}), "
                    f"but rows need a value and its groups, {max(wide, 2)} cells here."
                )
            if "" in row[1:]:
                raise InputError(
                    f"the hierarchy {self.source} has an empty group in the row of {row[0]!r}; "
                    f"write what the value becomes, such as {STAR}."
                )
            if row[0] in seen:
                raise InputError(f"the hierarchy {self.source} has two rows for {row[0]!r}; keep one.")
            seen.add(row[0])
            for level in range(1, wide - 1):
                group, into = row[level], row[level + 1]
                if above.setdefault((level, group), into) != into:
                    raise InputError(
                        f"the hierarchy {self.source} is not nested: {row[0]!r} becomes {into!r} at level {level + 1}, "
                        f"but others of {group!r} become {above[level, group]!r}; give all of them one group."
                    )

    def __str__(self) -> str:
        return self.source

    @classmethod
    def read(cls, path: Path, *, key: str) -> Hierarchy:
        """From a CSV file; the separator (``;``, tab or ``,``) is found, a header (the key's name first) skipped."""
        try:
            check_readable(path)
            lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        except InputError as refused:
            raise InputError(f"the hierarchy of {key!r} cannot be used: {refused}.") from None
        except OSError as refused:
            raise InputError(f"the hierarchy {path} cannot be read: {refused.strerror}.") from None
        except UnicodeDecodeError:
            raise InputError(f"the hierarchy {path} is not a text file; give CSV in UTF-8.") from None
        try:
            rows = min((_split(lines, by) for by in SEPARATORS), key=_unevenness)
        except csv.Error as problem:
            raise InputError(f"the hierarchy {path} cannot be read as CSV: {problem}.") from None
        if rows and rows[0][0].casefold() in (key.casefold(), *HEADERS):
            rows = rows[1:]
        return cls(tuple(rows), source=str(path))

    @cached_property
    def _row_of(self) -> dict[str | Decimal, tuple[str, ...]]:
        """By the value as it is written and, for numbers, as a number."""
        found: dict[str | Decimal, tuple[str, ...]] = {}
        for row in self.rows:
            number = _decimal(row[0])
            if number is not None:
                found.setdefault(number, row)
        return {**found, **{row[0]: row for row in self.rows}}

    def ladder(self, key: str, levels: Sequence[Any]) -> Ladder:
        """The steps of these levels; InputError names the first value that has no row. A null needs none."""
        rows = []
        for level in levels:
            text = written(level)
            row = self._row_of.get(text or "")
            if row is None and text is not None and is_number(level):
                row = self._row_of.get(Decimal(text))
            if row is None and text is not None:
                raise InputError(
                    f"key {key!r} has the value {text!r}, which the hierarchy {self.source} does not know; "
                    "add a row for it."
                )
            rows.append(row)
        steps = range(1, len(self.rows[0]))
        # A null stays null until the top, where there is nothing but one group.
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
        """The steps of these levels; InputError names the first value that is no number. A null stays null."""
        for level in levels:
            if not (level is None or is_number(level)):
                raise InputError(
                    f"key {key!r} has the value {written(level)!r}, which no interval holds; "
                    "give a hierarchy from a CSV file for it."
                )
        numbers = [None if level is None else Decimal(str(level)) for level in levels]
        return Ladder.of(
            levels,
            [[None if n is None else _interval(n, width) for n in numbers] for width in self.widths],
        )


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


def _split(lines: Sequence[str], by: str) -> list[tuple[str, ...]]:
    return [tuple(cell.strip() for cell in row) for row in csv.reader(lines, delimiter=by) if row]


def _unevenness(rows: Sequence[tuple[str, ...]]) -> tuple[bool, int]:
    """Least for the separator that cuts every row into as many cells, more than one."""
    widths = {len(row) for row in rows}
    return max(widths, default=1) < 2, len(widths)


def _starred(step: Sequence[str | None]) -> Sequence[str | None]:
    return [STAR] * len(step) if set(step) <= {STAR, None} else step
