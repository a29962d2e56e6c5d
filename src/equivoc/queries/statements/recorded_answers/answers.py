"""The recorded answers of one statement, checked against the groups and sizes that the data has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equivoc.errors import InputError
from equivoc.queries.answers.question import Aggregate
from equivoc.queries.statements.conditions import Value
from equivoc.queries.statements.statement import Statement

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
