"""Reads recorded answers from a file, or from a list with one entry per statement.

A CSV file has the columns ``statement`` (from 1), the group keys, and ``answer`` or one column per aggregate
(``sum``, ``avg``, ``count``, …); an empty cell of a key is the null group, an empty or NULL answer is SQL's NULL. A
JSON file is a list of objects with the same names, or a list like the one below.

A list has one entry per statement: None (compute it), a number, numbers in the order of the select list, or with
GROUP BY a mapping from the group's value (several keys: a tuple of values) to a number or numbers.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equivoc.checks import is_number, is_whole
from equivoc.errors import InputError, did_you_mean
from equivoc.sql.schema import Schema, Value, read_label, value_of_level
from equivoc.sql.statement import Statement
from equivoc.sql.word_check import FUNCTIONS, AnswerComment
from equivoc.systems.system import Aggregate

# The recorded answers of one statement, checked against the groups and sizes that the data has.

Group = tuple[Value | None, ...]
"""A group's key values in the order of GROUP BY; None is null. () without GROUP BY."""
Answers = tuple[float | None, ...]
"""One answer per aggregate, in the order of the select list; None is SQL's NULL."""


@dataclass(frozen=True)
class RecordedAnswers:
    """What was answered to one statement."""

    place: str
    """Where it is recorded, for messages."""
    rows: Mapping[Group, Answers]

    def check_groups(self, statement: Statement, occurring: Sequence[Group]) -> None:
        """InputError unless exactly the groups that occur have answers, one for each aggregate."""
        for group, answers in self.rows.items():
            if group not in set(occurring):
                raise InputError(
                    f"{self.place}: there is no group {shown_group(group)} among the people of the statement"
                )
            if len(answers) != len(statement.asked):
                of = f" of the group {shown_group(group)}" if group else ""
                raise InputError(
                    f"{self.place}: there are {len(answers)} answers{of}, but the statement asks for "
                    f"{len(statement.asked)}"
                )
        for group in occurring:
            if group not in self.rows:
                raise InputError(
                    f"{self.place}: the group {shown_group(group)} has no answer: add it, or leave the group out of "
                    "the statement by WHERE if it was not answered"
                )

    def answer(self, group: Group, at: int, *, aggregate: Aggregate, people: int) -> float | None:
        """The answer to one aggregate; InputError if no confidential values can give it to so many people."""
        given = self.rows[group][at]
        of = f" for the group {shown_group(group)}" if group else ""
        needed = 2 if aggregate in ("var_samp", "stddev_samp") else 1
        if aggregate == "count":
            if given != people:
                shown = "NULL" if given is None else f"{given:g}"
                raise InputError(
                    f"{self.place}: COUNT is recorded as {shown}{of}, but the data has {people} such people: "
                    "the answers are of other data"
                )
        elif (given is None) != (people < needed):
            shown = "NULL" if given is None else f"{given:g}"
            raise InputError(
                f"{self.place}: {aggregate.upper()} is recorded as {shown}{of}, but the data has {people} such "
                f"people, for whom the answer {'cannot be' if given is None else 'is'} NULL"
            )
        return given


def read_number(text: str, place: str) -> float | None:
    """An answer as it is written; InputError unless it is a number or NULL."""
    if text.strip().upper() == "NULL":
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{place}: the answer {text.strip()[:60]!r} is not a number")
    return number


def shown_group(group: Group) -> str:
    """A group for a message.

    >>> shown_group(("F", None))
    'F/NULL'
    """
    return "/".join("NULL" if value is None else str(value) for value in group)


# Reads the answers in a statement's comment.
#
# ``-- answer: 57``; with several aggregates ``-- answer: 57, 12``, in the order of the select list; with
# GROUP BY ``-- answer: F=157, M=200``; with several keys ``F/37=157``, in the order of GROUP BY; with groups
# and several aggregates ``F=157 2, M=200 3``. A value that contains such a sign stands in single quotes:
# ``'a, b'=3``. NULL is the null group.

_PIECE = re.compile(r"'(?:[^']|'')*'|[^',/=]+|[,/=]")


def comment_answers(statement: Statement, comment: AnswerComment, schema: Schema) -> RecordedAnswers:
    """The answers in a comment; InputError if they do not have the form above."""
    place = f"{comment.place}: the answer comment"
    if not statement.groups:
        numbers = tuple(read_number(part, place) for part in comment.text.split(","))
        return RecordedAnswers(place, {(): numbers})
    rows: dict[Group, tuple[float | None, ...]] = {}
    for pieces in _divided(_pieces(comment.text, place), ","):
        sides = _divided(pieces, "=")
        if len(sides) != 2:
            raise InputError(f"{place} must give each group and its answer, such as F=157, M=200")
        group = _group(statement, _divided(sides[0], "/"), schema, place)
        if group in rows:
            raise InputError(f"{place} has the group {shown_group(group)} twice")
        rows[group] = tuple(read_number(part, place) for part in "".join(sides[1]).split())
    return RecordedAnswers(place, rows)


def _pieces(text: str, place: str) -> list[str]:
    found = _PIECE.findall(text)
    if "".join(found) != text:
        raise InputError(f"{place} has a quote that is never closed")
    return found


def _divided(pieces: list[str], sign: str) -> list[list[str]]:
    """The pieces between the signs."""
    parts: list[list[str]] = [[]]
    for piece in pieces:
        if piece == sign:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def _group(statement: Statement, parts: list[list[str]], schema: Schema, place: str) -> Group:
    if len(parts) != len(statement.groups):
        raise InputError(f"{place} must name each group by {' / '.join(statement.groups)}")
    values: list[Value | None] = []
    for key, part in zip(statement.groups, parts, strict=True):
        written = "".join(part).strip()
        if written.upper() == "NULL":
            values.append(None)
            continue
        quoted = len(written) > 1 and written[0] == written[-1] == "'"
        label = written[1:-1].replace("''", "'") if quoted else written
        try:
            values.append(read_label(key, schema.kind(key), label))
        except InputError as unsuitable:
            raise InputError(f"{place}: {unsuitable}") from None
    return tuple(values)


_ONE = "answer"


def given_answers(
    statements: Sequence[Statement], schema: Schema, answers: Any
) -> dict[int, RecordedAnswers]:
    """The answers by the statements' numbers; ``answers`` is a path, a list, or None."""
    if answers is None:
        return {}
    if isinstance(answers, (str, os.PathLike)):
        path = Path(answers)
        return _of_file(path, statements, schema)
    if isinstance(answers, Sequence) and not isinstance(answers, bytes):
        return _of_list(answers, "answers", statements, schema)
    raise InputError(
        f"answers must be a path or a list with one entry per statement, not {type(answers).__name__!r}"
    )


def _of_file(path: Path, statements: Sequence[Statement], schema: Schema) -> dict[int, RecordedAnswers]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as unreadable:
        reason = unreadable.strerror if isinstance(unreadable, OSError) else "it is not UTF-8 text"
        raise InputError(f"the answers file {path} cannot be read: {reason}") from None
    if path.suffix.lower() != ".json":
        reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", restval="")
        try:
            rows = list(reader)
        except csv.Error as malformed:
            raise InputError(f"the answers file {path} is not valid CSV: {malformed}") from None
        if "statement" not in (reader.fieldnames or ()):
            raise InputError(
                f"the answers file {path} has no column 'statement' in its first line; its columns are statement "
                "and answer"
            )
        return _of_rows(rows, str(path), statements, schema)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"the answers file {path} is not valid JSON") from None
    if not isinstance(found, list):
        raise InputError(f"the answers file {path} must hold a list")
    if found and all(isinstance(row, dict) and "statement" in row for row in found):
        return _of_rows(found, str(path), statements, schema)
    return _of_list(found, str(path), statements, schema)


def _of_rows(
    rows: Sequence[Mapping[str, Any]], place: str, statements: Sequence[Statement], schema: Schema
) -> dict[int, RecordedAnswers]:
    by_number = {statement.number: statement for statement in statements}
    found: dict[int, dict[Group, Answers]] = {}
    for at, row in enumerate(rows, start=1):
        here = f"{place}, row {at}"
        _check_columns(row, here, schema)
        written = str(row.get("statement", "")).strip()
        if not written.isdecimal() or len(written) > 9 or int(written) - 1 not in by_number:
            raise InputError(
                f"{here}: statement is {written[:60]!r}; it must be a number from 1 to {len(statements)}"
            )
        statement = by_number[int(written) - 1]
        group = tuple(_cell(row, key, here, schema) for key in statement.groups)
        mine = found.setdefault(statement.number, {})
        if group in mine:
            again = f" of the group {shown_group(group)}" if group else ""
            raise InputError(f"{here}: statement {written} has its answer{again} twice")
        mine[group] = _answers_of_row(row, statement, here)
    return {
        number: RecordedAnswers(f"{place}, statement {number + 1}", answers)
        for number, answers in found.items()
    }


def _check_columns(row: Mapping[str, Any], here: str, schema: Schema) -> None:
    keys = [name for name, _ in schema.keys]
    functions = [name.lower() for name in FUNCTIONS]
    for name in row:
        if name not in ("statement", _ONE, *keys) and str(name).strip().lower() not in functions:
            if name == "":
                raise InputError(f"{here}: there are more cells than column names")
            raise InputError(
                f"{here}: there is no use for the column {name!r}"
                f"{did_you_mean(name, ['statement', _ONE, *keys, *functions])}".rstrip(".")
            )


def _cell(row: Mapping[str, Any], key: str, here: str, schema: Schema) -> Any:
    if key not in row:
        raise InputError(f"{here}: the column {key!r} of GROUP BY is missing")
    value = row[key]
    if value is None or value == "":
        return None
    try:
        return _group_value(key, value, schema)
    except InputError as unsuitable:
        raise InputError(f"{here}: {unsuitable}") from None


def _answers_of_row(row: Mapping[str, Any], statement: Statement, here: str) -> Answers:
    columns = {FUNCTIONS[name.strip().upper()]: name for name in row if name.strip().upper() in FUNCTIONS}
    numbers = []
    for asked in statement.asked:
        alone = _ONE in row and len(statement.asked) == 1 and row[_ONE] not in (None, "")
        name = _ONE if alone else columns.get(asked.aggregate)
        if name is None and _ONE in row and len(statement.asked) == 1:
            name = _ONE
        if name is None:
            raise InputError(
                f"{here}: there is no column for {asked.aggregate.upper()}: name it {asked.aggregate}"
            )
        numbers.append(_answer(row[name], here))
    return tuple(numbers)


def _of_list(
    answers: Sequence[Any], place: str, statements: Sequence[Statement], schema: Schema
) -> dict[int, RecordedAnswers]:
    if len(answers) != len(statements):
        raise InputError(f"{place}: there are {len(answers)} entries for {len(statements)} statements")
    found = {}
    for statement, entry in zip(statements, answers, strict=True):
        if entry is None:
            continue
        here = f"{place}, statement {statement.number + 1}"
        if not statement.groups:
            found[statement.number] = RecordedAnswers(here, {(): _numbers(entry, here)})
            continue
        if not isinstance(entry, Mapping):
            raise InputError(f"{here}: the statement has groups: give a mapping from group to answer")
        rows: dict[Group, Answers] = {}
        for label, numbers in entry.items():
            parts = label if isinstance(label, tuple) else (label,)
            if len(parts) != len(statement.groups):
                raise InputError(f"{here}: name each group by {', '.join(statement.groups)}")
            try:
                group = tuple(
                    None if part is None else _group_value(key, part, schema)
                    for key, part in zip(statement.groups, parts, strict=True)
                )
            except InputError as unsuitable:
                raise InputError(f"{here}: {unsuitable}") from None
            rows[group] = _numbers(numbers, here)
        found[statement.number] = RecordedAnswers(here, rows)
    return found


def _group_value(key: str, value: Any, schema: Schema) -> Any:
    kind = schema.kind(key)
    if isinstance(value, str):
        return read_label(key, kind, value)
    try:
        return value_of_level(key, kind, value)
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        raise InputError(f"{value!r} does not suit the key {key!r}") from None


def _numbers(entry: Any, here: str) -> Answers:
    if isinstance(entry, Sequence) and not isinstance(entry, str):
        return tuple(_answer(each, here) for each in entry)
    return (_answer(entry, here),)


def _answer(value: Any, here: str) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return read_number(value, here)
    if not is_number(value) or (is_whole(value) and abs(int(value)) >= 1 << 1000):
        raise InputError(f"{here}: the answer is {value!r}; give a number")
    return read_number(str(float(value)), here)
