"""Asks statements of the people: one question per aggregate and group, with recorded or computed answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.queries.answers.question import Question
from equivoc.queries.statements.conditions import Comparison, Condition, IsNull
from equivoc.queries.statements.literals import value_of_level
from equivoc.queries.statements.people_table import PeopleTable
from equivoc.queries.statements.recorded_answers.answers import Group, RecordedAnswers
from equivoc.queries.statements.recorded_answers.comments import comment_answers
from equivoc.queries.statements.recorded_answers.files import given_answers
from equivoc.queries.statements.schema import Schema
from equivoc.queries.statements.statement import Asked, Statement


def ask(table: PeopleTable, statements: Sequence[Statement], answers: Any = None) -> tuple[Question, ...]:
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
    return tuple(questions)


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
