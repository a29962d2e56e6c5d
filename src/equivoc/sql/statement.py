"""A parsed statement: aggregates over the people who meet a condition, perhaps by groups.

Conditions are our own tree over keys, always in one canonical form, which is what is written as SQL and evaluated.

`conjunction`, `disjunction` and `negation` keep the form: operands are flattened, sorted and different, and NOT
stands only before BETWEEN, IN, LIKE and IS NULL. All rewriting is valid in SQL's logic of three values.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from equivoc.sql.schema import TABLE, Value, written_number
from equivoc.sql.word_check import AnswerComment
from equivoc.systems.system import Aggregate

if TYPE_CHECKING:
    from sqlglot import exp


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


# Writes conditions and statements as SQL, anew from our own tree, for any of sqlglot's dialects.
#
# The text means the same people on every engine: text is ordered by code point, and LIKE has no escape
# character.

ColumnOf = Callable[[str], str]
"""The engine's name of a key."""


def condition_sql(
    condition: Condition, *, dialect: str, column_of: ColumnOf = str, linear_like: bool = False
) -> str:
    """A condition as SQL. With ``linear_like`` (DuckDB only), no pattern of LIKE takes more than linear time.

    >>> condition_sql(Or((Comparison("age", ">=", Decimal(65)), IsNull("age"))), dialect="duckdb")
    '"age" >= 65 OR "age" IS NULL'
    """
    match condition:
        case And(operands) | Or(operands):
            joined = " AND " if isinstance(condition, And) else " OR "
            parts = (
                condition_sql(part, dialect=dialect, column_of=column_of, linear_like=linear_like)
                for part in operands
            )
            return joined.join(
                f"({sql})" if isinstance(part, (And, Or)) else sql
                for sql, part in zip(parts, operands, strict=True)
            )
        case Like(key, pattern) if linear_like and "_" in pattern and pattern.count("%") > 1:
            return _regular_expression(column_of(key), pattern)
        case Not(Like(key, pattern)) if linear_like:
            inner = condition_sql(Like(key, pattern), dialect=dialect, column_of=column_of, linear_like=True)
            return f"NOT {inner}"
        case _:
            return _leaf(condition, dialect=dialect, column_of=column_of).sql(dialect=dialect, copy=False)


def statement_sql(
    selected: Sequence[tuple[Aggregate, str | None]],
    condition: Condition | None,
    groups: Sequence[str] = (),
    *,
    dialect: str,
    table: str,
) -> str:
    """A statement as SQL: the group keys, then each aggregate of its column (None: a star).

    >>> statement_sql([("count", None)], IsNull("age"), ["sex"], dialect="duckdb", table="people")
    'SELECT "sex", COUNT(*) FROM "people" WHERE "age" IS NULL GROUP BY "sex"'
    """
    from sqlglot import exp

    from equivoc.engines.statements import column

    shown = [column(key) for key in groups] + [_aggregate(*each) for each in selected]
    source = exp.to_identifier(table, quoted=True).sql(dialect=dialect, copy=False)
    sql = f"SELECT {', '.join(each.sql(dialect=dialect, copy=False) for each in shown)} FROM {source}"
    if condition is not None:
        sql += f" WHERE {condition_sql(condition, dialect=dialect)}"
    if groups:
        sql += f" GROUP BY {', '.join(column(key).sql(dialect=dialect, copy=False) for key in groups)}"
    return sql


def literal(value: Value) -> exp.Expression:
    """A value as a literal; times are written as text, which engines read as the column's type."""
    from sqlglot import exp

    match value:
        case bool():
            return exp.true() if value else exp.false()
        case Decimal() | float():
            written = written_number(value)
            number = exp.Literal.number(written.lstrip("-"))
            return exp.Neg(this=number) if written.startswith("-") else number
        case str():
            return exp.Literal.string(value)
        case dt.datetime():
            return exp.Literal.string(value.isoformat(sep=" "))
        case _:
            return exp.Literal.string(value.isoformat())


def _leaf(
    condition: Comparison | Between | OneOf | Like | IsNull | Not, *, dialect: str, column_of: ColumnOf
) -> exp.Expression:
    from sqlglot import exp

    from equivoc.engines.statements import column

    if isinstance(condition, Not):
        return exp.Not(this=_leaf(condition.operand, dialect=dialect, column_of=column_of))
    key = column(column_of(condition.key))
    match condition:
        case Comparison(_, operator, value):
            nodes: dict[str, type[exp.Expression]] = {
                "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
            }  # fmt: skip
            left = key if operator in ("=", "<>") else _by_code_point(key, value, dialect)
            return nodes[operator](this=left, expression=literal(value))
        case Between(_, low, high):
            left = _by_code_point(key, low, dialect)
            return exp.Between(this=left, low=literal(low), high=literal(high))
        case OneOf(_, values):
            return exp.In(this=key, expressions=[literal(value) for value in values])
        case Like(_, pattern):
            like = exp.Like(this=key, expression=exp.Literal.string(pattern))
            # PostgreSQL's escape character is the backslash unless there is none.
            escapes = dialect != "duckdb" and "\\" in pattern
            return exp.Escape(this=like, expression=exp.Literal.string("")) if escapes else like
        case IsNull():
            return exp.Is(this=key, expression=exp.null())


def _regular_expression(name: str, pattern: str) -> str:
    """LIKE as a regular expression, which DuckDB matches in linear time.

    For a pattern with _ and several %, older versions of DuckDB try all ways to place them, which takes hours.
    """
    from sqlglot import exp

    from equivoc.engines.statements import column

    signs = {"%": ".*", "_": "."}
    plain = (sign if sign.isalnum() or not sign.isascii() else "\\" + sign for sign in pattern)
    expression = "".join(signs.get(sign, written) for sign, written in zip(pattern, plain, strict=True))
    arguments = [column(name), exp.Literal.string(expression), exp.Literal.string("s")]
    return exp.Anonymous(this="regexp_full_match", expressions=arguments).sql(dialect="duckdb", copy=False)


def _by_code_point(key: exp.Expression, value: Value, dialect: str) -> exp.Expression:
    """A text column in the order of code points, DuckDB's own, whatever the server's language."""
    from sqlglot import exp

    if dialect != "postgres" or not isinstance(value, str):
        return key
    return exp.Collate(this=key, expression=exp.to_identifier("C", quoted=True))


def _aggregate(aggregate: Aggregate, name: str | None) -> exp.Expression:
    from sqlglot import exp

    from equivoc.engines.statements import column

    nodes: dict[Aggregate, type[exp.Expression]] = {
        "count": exp.Count,
        "sum": exp.Sum,
        "avg": exp.Avg,
        "min": exp.Min,
        "max": exp.Max,
        "median": exp.Median,
        "var_pop": exp.VariancePop,
        "var_samp": exp.Variance,
        "stddev_pop": exp.StddevPop,
        "stddev_samp": exp.StddevSamp,
    }
    return nodes[aggregate](this=exp.Star() if name is None else column(name))


@dataclass(frozen=True)
class Asked:
    """One aggregate of a select list."""

    aggregate: Aggregate
    column: str | None
    """The confidential attribute; for COUNT, the key whose nulls are not counted, or None: everyone."""


@dataclass(frozen=True)
class Statement:
    """What one statement asks. Conditions are canonical, so that equal questions are equal."""

    number: int
    """Its position in the log, from 0."""
    asked: tuple[Asked, ...]
    """The aggregates in the order of the select list."""
    condition: Condition | None
    """Whom it is about; None: everyone."""
    groups: tuple[str, ...] = ()
    """The keys of GROUP BY."""
    comment: AnswerComment | None = None
    """The answer recorded with it."""

    def sql(self, dialect: str = "duckdb", *, table: str = TABLE) -> str:
        """The statement written anew. Equal statements have equal text.

        >>> Statement(0, (Asked("sum", "salary"),), IsNull("sex"), ("age",)).sql()
        'SELECT "age", SUM("salary") FROM "people" WHERE "sex" IS NULL GROUP BY "age"'
        """
        selected = [(each.aggregate, each.column) for each in self.asked]
        return statement_sql(selected, self.condition, self.groups, dialect=dialect, table=table)

    def question_sql(self, asked: Asked, group: Sequence[Condition] = ()) -> str:
        """One aggregate of one group as a statement of its own; the group's values stand among the conditions."""
        parts = [*([] if self.condition is None else [self.condition]), *group]
        column = asked.column
        if asked.aggregate == "count" and column is not None:
            parts.append(Not(IsNull(column)))
            column = None
        condition = conjunction(parts) if parts else None
        return statement_sql([(asked.aggregate, column)], condition, dialect="duckdb", table=TABLE)
