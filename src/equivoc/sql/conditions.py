"""Conditions over keys: our own tree, always in one canonical form, which is what is written as SQL and evaluated.

`conjunction`, `disjunction` and `negation` keep the form: operands are flattened, sorted and different, and NOT
stands only before BETWEEN, IN, LIKE and IS NULL. All rewriting is valid in SQL's logic of three values.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

Value = Decimal | float | str | bool | dt.date | dt.datetime | dt.time
"""A literal: Decimal for keys of integers and decimals, float for keys of floating-point numbers."""
Operator = Literal["=", "<>", "<", "<=", ">", ">="]
OPPOSITE: dict[Operator, Operator] = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""What NOT makes of a comparison."""
MIRRORED: dict[Operator, Operator] = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""What a comparison becomes when its sides change places."""


@dataclass(frozen=True)
class Comparison:
    """``key operator value``."""

    key: str
    operator: Operator
    value: Value


@dataclass(frozen=True)
class Between:
    """``key BETWEEN low AND high``; both ends belong to it."""

    key: str
    low: Value
    high: Value


@dataclass(frozen=True)
class OneOf:
    """``key IN (values)``; at least two, ascending, different."""

    key: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Like:
    """``key LIKE pattern``: % is any text, _ one character; there is no escape character."""

    key: str
    pattern: str


@dataclass(frozen=True)
class IsNull:
    """``key IS NULL``."""

    key: str


@dataclass(frozen=True)
class Not:
    """The negation of a condition that has no opposite operator."""

    operand: Between | OneOf | Like | IsNull


@dataclass(frozen=True)
class And:
    """All of at least two different conditions, none of which is an And."""

    operands: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """Any of at least two different conditions, none of which is an Or."""

    operands: tuple[Condition, ...]


Condition = Comparison | Between | OneOf | Like | IsNull | Not | And | Or


def one_of(key: str, values: Iterable[Value]) -> Condition:
    """``key IN (values)``; a single value gives ``=``.

    >>> one_of("sex", ["M", "F", "M"])
    OneOf(key='sex', values=('F', 'M'))
    """
    different: list[Any] = sorted(set(values))
    return OneOf(key, tuple(different)) if len(different) > 1 else Comparison(key, "=", different[0])


def conjunction(conditions: Iterable[Condition]) -> Condition:
    """All of the conditions (at least one).

    >>> a, b, c = IsNull("a"), IsNull("b"), IsNull("c")
    >>> conjunction([c, conjunction([b, a]), b]) == And((a, b, c))
    True
    """
    operands = _different(part for c in conditions for part in (c.operands if isinstance(c, And) else (c,)))
    return And(operands) if len(operands) > 1 else operands[0]


def disjunction(conditions: Iterable[Condition]) -> Condition:
    """Any of the conditions (at least one)."""
    operands = _different(part for c in conditions for part in (c.operands if isinstance(c, Or) else (c,)))
    return Or(operands) if len(operands) > 1 else operands[0]


def negation(condition: Condition) -> Condition:
    """NOT condition, moved inwards.

    >>> negation(And((Comparison("age", "<", 30.0), IsNull("sex"))))
    Or(operands=(Comparison(key='age', operator='>=', value=30.0), Not(operand=IsNull(key='sex'))))
    """
    match condition:
        case Comparison(key, operator, value):
            return Comparison(key, OPPOSITE[operator], value)
        case Not(operand):
            return operand
        case And(operands):
            return disjunction(map(negation, operands))
        case Or(operands):
            return conjunction(map(negation, operands))
        case _:
            return Not(condition)


def keys_of(condition: Condition | None) -> Iterator[str]:
    """The keys that a condition names, with repetitions."""
    match condition:
        case None:
            return
        case And(operands) | Or(operands):
            for operand in operands:
                yield from keys_of(operand)
        case Not(operand):
            yield operand.key
        case _:
            yield condition.key


def _different(operands: Iterable[Condition]) -> tuple[Condition, ...]:
    """Without repetitions, in an order that depends on the conditions alone."""
    return tuple(sorted(dict.fromkeys(operands), key=repr))
