"""A second reading of the allowed SQL, written without sqlglot and DuckDB: a grammar of its own and three-valued logic.

Slow and strict. It accepts exactly the documented statements, so a statement that the package accepts and this reader
does not, or answers differently, shows a fault in one of them.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

Record = Mapping[str, Any]
Truth = bool | None
"""True, false, or unknown."""
Meets = Callable[[Record], Truth]

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n\r]*|/\*.*?\*/)
    |(?P<string>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*")
    |(?P<number>\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?P<word>[^\W\d]\w*)
    |(?P<sign><>|!=|<=|>=|[-=<>(),;*])""",
    re.VERBOSE | re.DOTALL,
)
FUNCTIONS = {
    "SUM", "AVG", "COUNT", "MIN", "MAX", "MEDIAN", "VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP",
    "STDDEV_POP",
}  # fmt: skip
RESERVED = {
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "IS", "NULL",
    "TRUE", "FALSE",
}  # fmt: skip


class NotAllowedError(Exception):
    """The text is not one of the documented statements."""


@dataclass(frozen=True)
class PlainStatement:
    """What the text asks."""

    aggregates: tuple[tuple[str, str | None], ...]
    """The function in capitals and its column; None: a star."""
    meets: Meets
    groups: tuple[str, ...]


def read(text: str, columns: Sequence[str], tables: Sequence[str] = ("people",)) -> list[PlainStatement]:
    """The statements of a text."""
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise NotAllowedError(text[at : at + 10])
        at = found.end()
        if found.lastgroup != "space":
            assert found.lastgroup is not None
            tokens.append((found.lastgroup, found[0]))
    statements, chunk = [], []
    for token in [*tokens, ("sign", ";")]:
        if token != ("sign", ";"):
            chunk.append(token)
        elif chunk:
            statements.append(_Reader(chunk, columns, tables).statement())
            chunk = []
    return statements


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]], columns: Sequence[str], tables: Sequence[str]) -> None:
        self.tokens, self.columns, self.tables, self.at = tokens, columns, tables, 0

    def statement(self) -> PlainStatement:
        self.expect("SELECT")
        chosen = [self.selected()]
        while self.take(","):
            chosen.append(self.selected())
        self.expect("FROM")
        if self.name(self.tables).casefold() not in {table.casefold() for table in self.tables}:
            raise NotAllowedError("table")
        meets: Meets = self.disjunction() if self.take("WHERE") else lambda record: True
        groups: list[str] = []
        if self.take("GROUP"):
            self.expect("BY")
            groups.append(self.operand_column())
            while self.take(","):
                groups.append(self.operand_column())
        if self.at != len(self.tokens):
            raise NotAllowedError("more text")
        aggregates = tuple((function, column) for function, column in chosen if function)
        if not aggregates or any(not function and column not in groups for function, column in chosen):
            raise NotAllowedError("select list")
        return PlainStatement(aggregates, meets, tuple(groups))

    def selected(self) -> tuple[str, str | None]:
        kind, text = self.peek()
        if kind == "word" and text.upper() in FUNCTIONS and self.peek(1) == ("sign", "("):
            self.at += 2
            if self.take("*"):
                if text.upper() != "COUNT":
                    raise NotAllowedError("star")
                self.expect(")")
                return "COUNT", None
            column = self.operand_column()
            self.expect(")")
            return text.upper(), column
        return "", self.name(self.columns)

    def disjunction(self) -> Meets:
        parts = [self.conjunction()]
        while self.take("OR"):
            parts.append(self.conjunction())
        return lambda record: _any([part(record) for part in parts])

    def conjunction(self) -> Meets:
        parts = [self.factor()]
        while self.take("AND"):
            parts.append(self.factor())
        return lambda record: _not(_any([_not(part(record)) for part in parts]))

    def factor(self) -> Meets:
        if self.take("NOT"):
            inner = self.factor()
            return lambda record: _not(inner(record))
        start = self.at
        if self.take("("):
            try:
                inside = self.disjunction()
                self.expect(")")
                if self.peek()[1].upper() in ("AND", "OR", ")", "GROUP", ""):
                    return inside
            except NotAllowedError:
                pass
            self.at = start
        return self.predicate()

    def predicate(self) -> Meets:
        left = self.operand()
        sign = self.peek()[1]
        if sign in ("=", "<>", "!=", "<", "<=", ">", ">="):
            self.at += 1
            right = self.operand()
            if left[0] == right[0]:
                raise NotAllowedError("comparison")
            return lambda record: _compare(_value(left, record), sign, _value(right, record))
        if left[0] != "column":
            raise NotAllowedError("predicate")
        if self.take("IS"):
            negated = self.take("NOT")
            self.expect("NULL")
            return lambda record: (record[left[1]] is None) != negated
        negated = self.take("NOT")
        meets = self.matched(left)
        return (lambda record: _not(meets(record))) if negated else meets

    def matched(self, left: tuple[str, Any]) -> Meets:
        """BETWEEN, IN and LIKE."""
        if self.take("BETWEEN"):
            low = self.literal()
            self.expect("AND")
            high = self.literal()
            return lambda record: _not(
                _any([_compare(record[left[1]], "<", low), _compare(record[left[1]], ">", high)])
            )
        if self.take("IN"):
            self.expect("(")
            values = [self.literal()]
            while self.take(","):
                values.append(self.literal())
            self.expect(")")
            return lambda record: _any([_compare(record[left[1]], "=", value) for value in values])
        self.expect("LIKE")
        pattern = self.literal()
        return lambda record: None if record[left[1]] is None else like(record[left[1]], pattern)

    def operand(self) -> tuple[str, Any]:
        if self.take("("):
            inside = self.operand()
            self.expect(")")
            return inside
        kind, text = self.peek()
        if kind in ("string", "number") or text == "-" or text.upper() in ("TRUE", "FALSE"):
            return "literal", self.literal()
        return "column", self.name(self.columns)

    def operand_column(self) -> str:
        kind, name = self.operand()
        if kind != "column":
            raise NotAllowedError("column")
        return str(name)

    def literal(self) -> Any:
        if self.take("("):
            inside = self.literal()
            self.expect(")")
            return inside
        negative = self.take("-")
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            return (-1 if negative else 1) * Fraction(Decimal(text))
        if kind == "string" and not negative:
            return text[1:-1].replace("''", "'")
        if text.upper() in ("TRUE", "FALSE") and kind == "word" and not negative:
            return text.upper() == "TRUE"
        raise NotAllowedError("literal")

    def name(self, known: Sequence[str]) -> str:
        kind, text = self.peek()
        self.at += 1
        if kind not in ("word", "quoted") or (kind == "word" and text.upper() in RESERVED):
            raise NotAllowedError("name")
        wanted = text[1:-1].replace('""', '"') if kind == "quoted" else text
        alike = [column for column in known if column.casefold() == wanted.casefold()]
        if len(alike) == 1:
            return alike[0]
        if kind == "quoted" and wanted in alike:
            return wanted
        raise NotAllowedError("name")

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ("end", "")

    def take(self, text: str) -> bool:
        kind, found = self.peek()
        if kind in ("word", "sign") and found.upper() == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise NotAllowedError(text)


def like(text: str, pattern: str) -> bool:
    """Whether the pattern (% any text, _ one character) covers the whole text."""
    reached = {0}
    for sign in pattern:
        if sign == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(text) and sign in ("_", text[at])}
    return len(text) in reached


def aggregate(function: str, values: Sequence[Fraction], counted: int) -> float | None:
    """The answer over exact values; ``counted`` is COUNT's."""
    if function == "COUNT":
        return float(counted)
    if not values:
        return None
    mean = sum(values, Fraction(0)) / len(values)
    squares = sum(((value - mean) ** 2 for value in values), Fraction(0))
    sample = function in ("VARIANCE", "VAR_SAMP", "STDDEV", "STDDEV_SAMP")
    if sample and len(values) == 1:
        return None
    variance = squares / (len(values) - sample)
    match function:
        case "SUM":
            return float(mean * len(values))
        case "AVG":
            return float(mean)
        case "MIN" | "MAX":
            return float(min(values) if function == "MIN" else max(values))
        case "MEDIAN":
            return float(statistics.median(values))
        case "VARIANCE" | "VAR_SAMP" | "VAR_POP":
            return float(variance)
    return math.sqrt(variance)


def _value(side: tuple[str, Any], record: Record) -> Any:
    return record[side[1]] if side[0] == "column" else side[1]


def _compare(left: Any, sign: str, right: Any) -> Truth:
    if left is None or right is None:
        return None
    left, right = _alike(left, right), _alike(right, left)
    match sign:
        case "=":
            return bool(left == right)
        case "<>" | "!=":
            return bool(left != right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
    return bool(left >= right)


def _alike(one: Any, other: Any) -> Any:
    """A literal as the other side's type has it."""
    if isinstance(other, dt.datetime) and isinstance(one, str):
        return dt.datetime.fromisoformat(one)
    if isinstance(other, dt.date) and isinstance(one, str):
        return dt.date.fromisoformat(one)
    if isinstance(other, float) and isinstance(one, Fraction):
        return float(one)
    return one


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _any(truths: Sequence[Truth]) -> Truth:
    return True if True in truths else None if None in truths else False
