"""Reads the answers in a statement's comment.

``-- answer: 57``; with several aggregates ``-- answer: 57, 12``, in the order of the select list; with GROUP BY
``-- answer: F=157, M=200``; with several keys ``F/37=157``, in the order of GROUP BY; with groups and several
aggregates ``F=157 2, M=200 3``. A value that contains such a sign stands in single quotes: ``'a, b'=3``. NULL is the
null group.
"""

from __future__ import annotations

import re

from equivoc.errors import InputError
from equivoc.queries.statements.conditions import Value
from equivoc.queries.statements.literals import read_label
from equivoc.queries.statements.recorded_answers.answers import (
    Group,
    RecordedAnswers,
    read_number,
    shown_group,
)
from equivoc.queries.statements.schema import Schema
from equivoc.queries.statements.splitting import AnswerComment
from equivoc.queries.statements.statement import Statement

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
