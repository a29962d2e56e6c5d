"""A parsed statement: aggregates over the people who meet a condition, perhaps by groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equivoc.queries.answers.question import Aggregate
from equivoc.queries.statements.conditions import Condition, IsNull, Not, conjunction
from equivoc.queries.statements.schema import TABLE
from equivoc.queries.statements.splitting import AnswerComment
from equivoc.queries.statements.writing import statement_sql


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
