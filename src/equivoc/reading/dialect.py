"""Guesses how a text file holds its table: packing, encoding, separator, header; all that the caller does not give."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from equivoc.attributes.written_values import is_measured, is_missing_word
from equivoc.engines.text_file import Compression, Dialect, compression_of, open_text, undecodable
from equivoc.errors import InputError
from equivoc.reading.encoding import guess_encoding

if TYPE_CHECKING:
    from equivoc.reading.reading import Reading

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""Those that are tried, and their names."""
_LOOKED_AT = 1000
"""Records below the first line."""
_LONGEST = 10
"""More digits than a counting name has."""
_MOST_SHOWN, _SHOWN = 5, 20
"""Cells of the first line in a message, and characters of each."""
_SAYS_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n')
_PLAIN_NUMBER = re.compile(r"[+-]?[\d.,'\u2019 \u00a0\u202f]*\d[\d.,]*([eE][+-]?\d+)?")

Rows = list[list[str]]


def guess_dialect(path: Path, given: Reading) -> Dialect:
    """The dialect of a file; InputError if it has none, or if two fit."""
    compression = compression_of(path)
    encoding = _encoding(path, compression, given)
    found = Dialect(",", encoding=encoding, compression=compression)
    try:
        with open_text(path, found) as text:
            said = _SAYS_SEPARATOR.fullmatch(text.readline(20))
        if said is not None:
            found = replace(found, skipped=1)
        separator = given.separator or (said.group(1) if said else None)
        rows = {each: _rows(path, replace(found, separator=each)) for each in separator or SEPARATORS}
    except UnicodeError:
        raise InputError(undecodable(path, found)) from None
    separator, (first, *below) = _best(path, rows)
    found = replace(found, separator=separator)
    if given.header is False:
        return replace(found, header=False, names=tuple(f"column_{at}" for at in range(1, len(first) + 1)))
    if given.header is None and without_header(first, below):
        raise InputError(_no_header(path, first))
    if given.header is None and below:
        _check_second_header(path, found, below)
    if _are_row_names(first, below):
        return replace(found, names=("", *first), row_names=True)
    return replace(found, names=tuple(first))


def _encoding(path: Path, compression: Compression, given: Reading) -> str:
    if given.encoding is not None:
        return given.encoding
    return guess_encoding(path, compression)


def _rows(path: Path, dialect: Dialect) -> Rows | csv.Error:
    """The first line and some records as this separator splits them."""
    with open_text(path, dialect) as text:
        reader = csv.reader(text, delimiter=dialect.separator, skipinitialspace=True)
        strict = csv.reader(text, delimiter=dialect.separator, strict=True)
        try:
            first = next(strict, [])
        except csv.Error as wrong:
            return wrong
        rows = [first]
        with suppress(csv.Error):  # reading the records says what is wrong
            rows += [row for row in islice(reader, _LOOKED_AT) if row]
        return rows


def _best(path: Path, tried: dict[str, Rows | csv.Error]) -> tuple[str, Rows]:
    """The separator that splits the first line most, among those that split all lines alike if there are any; and
    the lines.
    """
    rows = {each: found for each, found in tried.items() if not isinstance(found, csv.Error) and found[0]}
    if not rows:
        if any(isinstance(found, csv.Error) for found in tried.values()):
            raise InputError(f"{path} cannot be read: a quote in its header is not closed")
        raise InputError(f"{path} is empty, or its first line is: give a CSV file with a header and records")
    even = {each for each, found in rows.items() if len(found[0]) > 1 and _is_even(found)}
    candidates = {each: found for each, found in rows.items() if each in even} or rows
    most = max(len(found[0]) for found in candidates.values())
    best = [each for each, found in candidates.items() if len(found[0]) == most]
    if most > 1 and len(best) > 1 and even and len(rows[best[0]]) > 1:
        raise InputError(
            f"{path} can be read with two separators, {SEPARATORS[best[0]]} or {SEPARATORS[best[1]]}: "
            f"say which, separator={best[0]!r} or separator={best[1]!r}"
        )
    return best[0], candidates[best[0]]


def _is_even(rows: Rows) -> bool:
    """True if all lines have as many fields as the first, a last empty one not counted."""
    width = len(rows[0])
    lengths = {len(row) - (len(row) == width + 1 and row[-1] == "") for row in rows[1:]}
    return lengths <= {width} or _are_row_names(rows[0], rows[1:])


def _are_row_names(first: Sequence[str], below: Rows) -> bool:
    """True if every record has one field more than the header, and the first one counts the records: 1, 2, 3, …."""
    return bool(below) and all(
        len(row) == len(first) + 1 and row[0] == str(at) for at, row in enumerate(below, start=1)
    )


def without_header(first: Sequence[str], below: Rows) -> bool:
    """True if the cells of the first line are values like those below them, and none is a name.

    A cell is a value if it is a number or a date and so is all that stands below it, or if the same text stands
    below it. It is a name if it is a text above nothing but numbers or dates; numbers that count up (2019, 2020, …) are
    names, too. A single name makes a header.
    """
    rows = [row for row in below if len(row) == len(first)]
    values = 0
    if _counts_up([name.strip() for name in first if is_measured(name.strip())]):
        return False
    for name, column in zip(first, zip(*rows, strict=True), strict=False):
        held = {cell.strip() for cell in column} - {""}
        alike = bool(held) and all(map(is_measured, held))
        if is_measured(name.strip()):
            values += alike
        elif alike and not is_missing_word(name):
            return False
        else:
            values += name.strip() in held
    return values > 0


def _counts_up(cells: Sequence[str]) -> bool:
    """True for two whole numbers or more, each one above the one before."""
    if len(cells) < 2 or not all(
        cell.isascii() and cell.isdigit() and len(cell) < _LONGEST for cell in cells
    ):
        return False
    return all(int(later) == int(earlier) + 1 for earlier, later in pairwise(cells))


def _check_second_header(path: Path, dialect: Dialect, below: Rows) -> None:
    """InputError if the second line holds words only, none of which occurs below it, above columns of numbers."""
    second, *records = below
    above_numbers = 0
    for at, cell in enumerate(map(str.strip, second)):
        held = {row[at].strip() for row in records if at < len(row)} - {""}
        if not cell or is_missing_word(cell) or is_measured(cell) or cell in held:
            return
        values = {value for value in held if not is_missing_word(value)}
        above_numbers += bool(values) and all(_PLAIN_NUMBER.fullmatch(value) for value in values)
    if above_numbers and len(records) > 1:
        shown = ", ".join(cell[:_SHOWN] for cell in second[:_MOST_SHOWN])
        raise InputError(
            f"{path} seems to have two header rows: line {dialect.skipped + 2} ({shown}) holds words above numbers; "
            "remove it, or say header=True if it is a record"
        )


def _no_header(path: Path, first: Sequence[str]) -> str:
    shown = ", ".join(cell[:_SHOWN] for cell in first[:_MOST_SHOWN])
    return (
        f"{path} seems to have no header: its first line ({shown}{', …' if len(first) > _MOST_SHOWN else ''}) "
        "looks like a record, which would be lost: write a first line with the columns' names, at least one of "
        "them a word that is not a value of its column; or say header=False, and the columns are called column_1, "
        "column_2, …"
    )
