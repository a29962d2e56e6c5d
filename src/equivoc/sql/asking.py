"""Asks statements of the people: one question per aggregate and group, with recorded or computed answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.engines.duckdb import Scratch, scratch_of
from equivoc.errors import InputError
from equivoc.sql.exact_aggregates import ConfidentialValues
from equivoc.sql.recorded_answers import Group, RecordedAnswers, comment_answers, given_answers
from equivoc.sql.schema import MOST_DIGITS, KeyKind, Schema, value_of_level
from equivoc.sql.statement import Asked, Comparison, Condition, IsNull, Statement, condition_sql, keys_of
from equivoc.systems.system import Question

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.microdata import Microdata

# The people as a table in DuckDB: finds who meets each condition, many conditions in one pass.
#
# The table lives in memory and has the keys only. Inside it, the keys are called k0, k1, …: a column's own name never
# reaches the engine.

_AT_ONCE = 100
"""Conditions in one pass over the table."""
_RECORD = "record"


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """People, opened once, and asked from any number of threads."""

    people: Microdata
    schema: Schema
    values: ConfidentialValues
    """The confidential values after rounding; codes of the domain where they are not numbers."""
    _scratch: Scratch = field(repr=False)
    _inexact: frozenset[str]
    """Keys with more digits than can be compared exactly."""

    @classmethod
    def of(cls, people: Microdata, schema: Schema) -> PeopleTable:
        """The table of people; ``schema`` is `schema_of` of the same people."""
        import pyarrow as pa

        columns: dict[str, Any] = {_RECORD: pa.array(np.arange(len(people)))}
        inexact = set()
        for at, (key, kind) in enumerate(schema.keys):
            column = _comparable(people.decode(key, people.key_codes(key)), kind)
            if column is None:
                inexact.add(key)
            else:
                columns[f"k{at}"] = column
        numeric = people.attribute.numeric
        values = people.values[people.codes] if numeric else people.codes
        return cls(
            people,
            schema,
            ConfidentialValues(np.asarray(values, np.float64)),
            scratch_of("people", pa.table(columns)),
            frozenset(inexact),
        )

    def members(self, conditions: Sequence[Condition | None]) -> list[NDArray[np.int64]]:
        """The record numbers, ascending, of the people for whom each condition is true (None: everyone).

        As in SQL, a comparison with a null key is neither true nor false.
        """
        place = {condition: at for at, condition in enumerate(dict.fromkeys(conditions))}
        found: list[NDArray[np.int64]] = []
        different = list(place)
        for start in range(0, len(different), _AT_ONCE):
            found += self._pass(different[start : start + _AT_ONCE])
        return [found[place[condition]] for condition in conditions]

    def _pass(self, conditions: Sequence[Condition | None]) -> Iterator[NDArray[np.int64]]:
        from equivoc.engines.statements import column

        names = {key: f"k{at}" for at, (key, _) in enumerate(self.schema.keys)}
        wanted = [column(_RECORD).sql(dialect="duckdb")]
        for at, condition in enumerate(conditions):
            for key in keys_of(condition):
                if key in self._inexact:
                    raise InputError(
                        f"the key {key!r} holds decimals of more than {MOST_DIGITS} digits, or times in nanoseconds, "
                        "which cannot be compared exactly: give it as text or as whole numbers"
                    )
            sql = (
                "TRUE"
                if condition is None
                else condition_sql(condition, dialect="duckdb", column_of=names.__getitem__, linear_like=True)
            )
            wanted.append(f"COALESCE({sql}, FALSE) AS c{at}")
        answer = self._scratch.columns(f"SELECT {', '.join(wanted)} FROM people")
        order = np.asarray(answer[_RECORD])
        sorted_already = bool(np.all(order[1:] > order[:-1]))
        for at in range(len(conditions)):
            chosen = order[np.asarray(answer[f"c{at}"], np.bool_)]
            yield (chosen if sorted_already else np.sort(chosen)).astype(np.int64, copy=False)


def _comparable(column: pa.Array, kind: KeyKind) -> pa.Array | None:
    """The column in a type that every literal can be compared with exactly; None if it does not fit one."""
    import pyarrow as pa

    wanted: dict[KeyKind, pa.DataType] = {
        "float32": pa.float64(),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "timestamp": pa.timestamp("us"),
        "timestamp with zone": pa.timestamp("us", "UTC"),
    }
    if kind == "other":  # only its nulls can be asked about
        return pa.array(np.zeros(len(column), np.int8), mask=column.is_null().to_numpy(zero_copy_only=False))
    if kind == "decimal":
        different = column.unique()
        types = (pa.decimal128(MOST_DIGITS, places) for places in range(MOST_DIGITS + 1))
        fitting = next((each for each in types if _cast(different, each) is not None), None)
        return None if fitting is None else column.cast(fitting)
    return _cast(column, wanted[kind]) if kind in wanted else column


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """The column in another type; None if a value would change."""
    import pyarrow as pa

    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return None


class AskedOfPeople(NamedTuple):
    """What `ask` returns."""

    questions: tuple[Question, ...]
    recorded: frozenset[int]
    """The numbers of the statements whose answers were recorded; those of all others come from the data."""


def ask(table: PeopleTable, statements: Sequence[Statement], answers: Any = None) -> AskedOfPeople:
    """The questions of the statements, with the query set and the answer of each.

    A statement with GROUP BY asks one question per aggregate and group that occurs, groups in ascending order.
    Answers come from the statement's comment (see `recorded_answers.comments`) or from ``answers``, a path or a list
    (see `recorded_answers.files`); those of other statements are computed from the data.
    """
    recorded = _recorded(statements, table.schema, answers)
    sets = table.members([statement.condition for statement in statements])
    questions: list[Question] = []
    for statement, members in zip(statements, sets, strict=True):
        questions += _questions(table, statement, members, recorded.get(statement.number))
    return AskedOfPeople(tuple(questions), frozenset(recorded))


def _recorded(statements: Sequence[Statement], schema: Schema, answers: Any) -> dict[int, RecordedAnswers]:
    """The recorded answers by the statements' numbers."""
    found = given_answers(statements, schema, answers)
    for statement in statements:
        if statement.comment is not None:
            if statement.number in found:
                raise InputError(
                    f"{statement.comment.place}: the statement has an answer in answers too; give one"
                )
            found[statement.number] = comment_answers(statement, statement.comment, schema)
    return found


def _questions(
    table: PeopleTable, statement: Statement, members: NDArray[np.int64], recorded: RecordedAnswers | None
) -> Iterator[Question]:
    groups = list(_groups(table, statement.groups, members)) if statement.groups else [((), members)]
    if recorded is not None:
        recorded.check_groups(statement, [group for group, _ in groups])
    for group, inside in groups:
        conditions: list[Condition] = [
            IsNull(key) if value is None else Comparison(key, "=", value)
            for key, value in zip(statement.groups, group, strict=True)
        ]
        for at, asked in enumerate(statement.asked):
            chosen = _counted(table, asked, inside)
            if recorded is None:
                answer = table.values.answer(asked.aggregate, chosen)
            else:
                answer = recorded.answer(group, at, aggregate=asked.aggregate, people=len(chosen))
            text = statement.question_sql(asked, conditions)
            yield Question(asked.aggregate, chosen, answer, statement=statement.number, text=text)


def _counted(table: PeopleTable, asked: Asked, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """The members whose column is not null: COUNT(key) leaves out the others."""
    if asked.aggregate != "count" or asked.column is None:
        return members
    levels = table.people.levels(asked.column)
    if levels[-1] is not None:
        return members
    present: NDArray[np.bool_] = table.people.key_codes(asked.column)[members] != len(levels) - 1
    return members[present]


def _groups(
    table: PeopleTable, keys: Sequence[str], members: NDArray[np.int64]
) -> Iterator[tuple[Group, NDArray[np.int64]]]:
    """The groups that occur among the members, by their keys' levels, ascending and null last."""
    codes = np.column_stack([table.people.key_codes(key)[members] for key in keys])
    different, place = np.unique(codes, axis=0, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(place.reshape(-1), minlength=len(different)))
    levels = [table.people.levels(key) for key in keys]
    for row, inside in zip(different, np.split(members[order], ends[:-1]), strict=False):
        group = tuple(
            None if found is None else value_of_level(key, table.schema.kind(key), found)
            for key, found in zip(
                keys, (level[code] for level, code in zip(levels, row, strict=True)), strict=True
            )
        )
        yield group, inside
