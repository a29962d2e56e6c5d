"""The rules in their order: reads a statement, judges it by what was answered before, and takes it as answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.gateway.answered import SUMS, Answered
from equivoc.gateway.class_edges import edge_fault, key_classes
from equivoc.gateway.history import Entry
from equivoc.gateway.policy import Policy
from equivoc.gateway.query_set_rule import too_small
from equivoc.gateway.rank_rule import Trial, secret_prime
from equivoc.number_format import counted
from equivoc.queries.answers.question import Question
from equivoc.queries.statements.asking import ask
from equivoc.queries.statements.parsing import parse, parse_one
from equivoc.queries.statements.people_table import PeopleTable
from equivoc.queries.statements.schema import schema_of
from equivoc.queries.statements.statement import Statement

ANSWERABLE = ("count", "sum", "avg", "min", "max")
OUT_OF_WORK = "deciding takes more work than the policy allows."


@dataclass(frozen=True)
class Verdict:
    """What becomes of a statement, and why."""

    decision: Literal["answered", "repeated", "refused"]
    reason: str
    trial: Trial | None = None
    """What the rank rule computed for its sums, if it is answered."""


@dataclass(frozen=True, eq=False)
class AskedStatement:
    """A statement with the query sets and answers of its questions, which only `value` gives away."""

    statement: Statement
    text: str
    """The statement written anew: equal statements have equal text."""
    questions: tuple[Question, ...]
    groups: tuple[tuple[Any, ...], ...]
    """The key values of each group; one empty group without GROUP BY."""

    def value(self) -> Any:
        """The answer: a number, or a list with a dictionary for each group."""
        width = len(self.statement.asked)
        if width == 1 and not self.statement.groups:
            return self.questions[0].answer
        names = [f"{each.aggregate.upper()}({each.column or '*'})" for each in self.statement.asked]
        rows = []
        for at, group in enumerate(self.groups):
            answers = [question.answer for question in self.questions[at * width : (at + 1) * width]]
            keys = zip(self.statement.groups, group, strict=True)
            rows.append({**dict(keys), **dict(zip(names, answers, strict=True))})
        return rows


class Decisions:
    """Decides questions about people under a policy. Its state is a function of the answered questions alone."""

    def __init__(self, people: Microdata, policy: Policy, *, secret: bytes) -> None:
        self._people = people
        self._policy = policy
        self._prime = secret_prime(int.from_bytes(secret, "big"))
        self._schema = schema_of(people)
        self._table = PeopleTable.of(people, self._schema)
        self._classes = key_classes(people, self._schema, policy.edges)
        self._answered: dict[str, Answered] = {}

    def read(self, sql: str) -> AskedStatement:
        """The statement of a text; InputError if it is none that the gateway can read."""
        statement = parse_one(sql, schema=self._schema)
        text = statement.sql()
        try:
            again = parse_one(text, schema=self._schema)
        except InputError:
            again = None
        if again != statement:  # the log could not be replayed
            raise InputError(
                "the statement is too long once it is written with all names quoted; shorten it."
            )
        return self._asked([statement])[0]

    def judge(self, asked: AskedStatement, analyst: str) -> Verdict:
        """Whether a statement may be answered; nothing changes."""
        policy, answered = self._policy, self._of(analyst)
        others = sorted({q.aggregate for q in asked.questions} - set(ANSWERABLE))
        if others:
            return _refused(f"{others[0].upper()} is not answered: COUNT, SUM, AVG, MIN and MAX are.")
        if asked.questions and all(map(answered.contains, asked.questions)):
            return Verdict("repeated", "this was answered before; the answer is the same.")
        fault = edge_fault(asked.statement, self._classes)
        if fault is None:
            sizes = [question.people for question in asked.questions] or [0]
            fault = too_small(sizes, people=len(self._people), least_people=policy.least_people)
        if fault is not None:
            return _refused(fault)
        new = [question for question in asked.questions if not answered.follows(question)]
        if not new:
            return Verdict("answered", "the answer tells nothing that does not follow from earlier answers.")
        sums = [question.members for question in new if question.aggregate in SUMS]
        trial = None
        if sums:
            seed = answered.seed(asked.text.encode())
            trial = answered.known_sums.trial(sums, seed=seed, work=policy.work)
            if trial.verdict == "work":
                return _refused(OUT_OF_WORK)
            if trial.verdict == "known":
                few = counted(policy.least_people, "person")
                return _refused(f"with the answers given before, the sum of fewer than {few} would be known.")
        reason = self._judge_by_draws(new, answered)
        if reason is not None:
            return _refused(reason)
        return Verdict("answered", "no limit of the policy is passed.", trial)

    def take(self, asked: AskedStatement, analyst: str, verdict: Verdict | None = None) -> None:
        """Remember the statement as answered; ``verdict`` is the one just given, which saves work."""
        self._of(analyst).take(asked.questions, None if verdict is None else verdict.trial)

    def replay(self, entries: Iterable[Entry]) -> None:
        """Restore the state from the log; InputError if the log does not belong to the data."""
        told = [entry for entry in entries if entry.decision in ("answered", "repeated")]
        statements = parse([entry.question for entry in told], schema=self._schema) if told else ()
        for entry, asked in zip(told, self._asked(statements), strict=True):
            if json.loads(json.dumps(asked.value(), default=str)) != entry.value:
                raise InputError(f"the store is damaged: entry {entry.number} is not what the data answer.")
            self.take(asked, entry.analyst)

    def _judge_by_draws(self, new: Sequence[Question], answered: Answered) -> str | None:
        extremes = [question for question in new if question.aggregate not in SUMS]
        return "MIN and MAX are not answered yet." if extremes else None

    def _of(self, analyst: str) -> Answered:
        scope = analyst if self._policy.scope == "analyst" else ""
        if scope not in self._answered:
            k = self._policy.least_people
            self._answered[scope] = Answered(people=len(self._people), least_people=k, prime=self._prime)
        return self._answered[scope]

    def _asked(self, statements: Sequence[Statement]) -> list[AskedStatement]:
        questions = ask(self._table, statements)
        by_statement: dict[int, list[Question]] = {statement.number: [] for statement in statements}
        for question in questions:
            by_statement[question.statement].append(question)
        found = []
        for statement in statements:
            own = by_statement[statement.number]
            firsts = own[:: len(statement.asked)]
            groups = tuple(self._group(statement, question) for question in firsts)
            found.append(AskedStatement(statement, statement.sql(), tuple(own), groups))
        return found

    def _group(self, statement: Statement, question: Question) -> tuple[Any, ...]:
        """The key values of a question's group; nothing for an empty one, which is never answered."""
        if not question.people:
            return ()
        first = question.members[0]
        people = self._people
        return tuple(people.levels(key)[people.key_codes(key)[first]] for key in statement.groups)


def _refused(reason: str) -> Verdict:
    return Verdict("refused", reason)
