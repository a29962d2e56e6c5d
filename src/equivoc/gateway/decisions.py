"""The rules in their order: reads a statement, judges it by what was answered before, and takes it as answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.gateway.answer_pool import least_work
from equivoc.gateway.answered import SUMS, Answered, KeyOrders, Shared, digest
from equivoc.gateway.edges import edge_fault, key_classes, too_small
from equivoc.gateway.history import Entry, SavedPool
from equivoc.gateway.policy import Policy
from equivoc.gateway.rank_rule import Trial, secret_prime
from equivoc.sql.asking import PeopleTable, ask
from equivoc.sql.parsing import parse, parse_one
from equivoc.sql.schema import schema_of
from equivoc.sql.statement import Statement
from equivoc.systems.constraints import answer_grid
from equivoc.systems.grids import EvenGrid
from equivoc.systems.system import Question
from equivoc.text import bits, counted, percent

# What an owner has to know of her data and policy before the first question, with numbers.

FREQUENT = 0.2
"""The share of people with one value from which on the drawn databases say little about the true answers."""


def warnings_of(people: Microdata, policy: Policy, grid: EvenGrid) -> Iterator[str]:
    """Sentences."""
    yield from (remark.sentence for remark in people.remarks)
    counts = np.bincount(people.codes, minlength=len(people.values))
    at = int(np.argmax(counts))
    share = counts[at] / len(people)
    if share > FREQUENT:
        k = policy.least_people
        end = " at an end of the domain" if at in (0, len(people.values) - 1) else ""
        value, name = people.attribute.text(people.values[at]), people.confidential
        yield (
            f"{counts[at]:,} of {counted(len(people), 'person')} ({percent(share)}) have the {name} {value}{end}: "
            f"of {k} people chosen at random, all have it with probability {percent(share**k)}. Decisions take all "
            "values as equally likely and do not see this, so answers may pin down many people; the log says how "
            "many. Ask for larger sets (least_people, edges), or do not answer questions about this column."
        )
    databases = policy.draws if policy.simulatable else 1
    least = least_work(grid, people=len(people), databases=databases)
    if policy.work < least:
        yield (
            f"every question for a SUM, AVG, MIN or MAX that tells something new will be refused: judging one takes at "
            f"least {least:,} operations, and work is {policy.work:,}. Raise work, or lower draws or the number of "
            "values (round_to)."
        )


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
        grid, _ = answer_grid(people.values, people=len(people))
        self._setting = Shared(
            policy,
            secret_prime(int.from_bytes(secret, "big")),
            grid,
            grid.positions[people.codes],
            KeyOrders(people),
        )
        self._schema = schema_of(people)
        self._table = PeopleTable.of(people, self._schema)
        self._classes = key_classes(people, self._schema, policy.edges)
        self._answered: dict[str, Answered] = {}
        self.answered_questions: dict[bytes, Question] = {}
        """The questions whose answers were given to anybody, each once."""
        self._saved: dict[str, int] = {}

    def warnings(self) -> tuple[str, ...]:
        """What the owner has to know before the first question."""
        return tuple(warnings_of(self._people, self._policy, self._setting.grid))

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
        found = answered.disclosing(new, trial)
        if found is None:
            return _refused(OUT_OF_WORK)
        accepted = policy.draws_accepted if policy.simulatable else 0
        if found > accepted:
            return _refused(self._told_disclosure(accepted))
        return Verdict("answered", "no limit of the policy is passed.", trial)

    def take(self, asked: AskedStatement, analyst: str, verdict: Verdict | None = None) -> None:
        """Remember the statement as answered; ``verdict`` is the one just given, which saves work."""
        self._of(analyst).take(asked.questions, None if verdict is None else verdict.trial)
        self._remember(asked)

    def replay(self, entries: Sequence[Entry], pools: Mapping[str, SavedPool]) -> None:
        """Restore the state from the log; InputError if the log does not belong to the data.

        A saved pool replaces those drawn before it; without one, every pool is drawn again in its turn.
        """
        given = [entry for entry in entries if entry.decision in ("answered", "repeated")]
        try:
            statements = parse([entry.question for entry in given], schema=self._schema) if given else ()
        except InputError as mistake:
            raise InputError(
                f"the store is damaged: an answered question cannot be read: {mistake}"
            ) from None
        asked = self._asked(statements)
        for entry, each in zip(given, asked, strict=True):
            if json.loads(json.dumps(each.value(), default=str)) != entry.value:
                raise InputError(f"the store is damaged: entry {entry.number} is not what the data answer.")
        for each in asked:
            self._remember(each)
        if not self._restored(given, asked, pools):
            self._answered.clear()
            self._restored(given, asked, {})

    def _remember(self, asked: AskedStatement) -> None:
        for question in asked.questions:
            self.answered_questions.setdefault(digest(question), question)

    def _restored(
        self, given: Sequence[Entry], asked: Sequence[AskedStatement], pools: Mapping[str, SavedPool]
    ) -> bool:
        """Take all statements; False if a saved pool was drawn from other answers."""
        for entry, each in zip(given, asked, strict=True):
            answered = self._of(entry.analyst)
            saved = pools.get(self._scope(entry.analyst))
            answered.take(each.questions, pool=saved is None or answered.statements >= saved.statements)
            if saved is not None and answered.statements == saved.statements and not answered.restore(saved):
                return False
        return all(
            self._answered[scope].statements >= saved.statements
            for scope, saved in pools.items()
            if scope in self._answered
        )

    def unsaved_pools(self, *, every: int) -> dict[str, SavedPool]:
        """The pools that have moved on by this many statements since they were last returned."""
        found = {}
        for scope, answered in self._answered.items():
            if self._policy.simulatable and answered.statements - self._saved.get(scope, 0) >= every:
                found[scope] = answered.saved_pool()
                self._saved[scope] = answered.statements
        return found

    def _told_disclosure(self, accepted: int) -> str:
        policy = self._policy
        left = f"less than {bits(policy.least_h0)} of uncertainty" if policy.least_h0 else "no uncertainty"
        if not policy.simulatable:
            return f"the answer would leave {left} about someone."
        drawn = f"of {policy.draws} databases that fit the earlier answers"
        return f"in more than {accepted} {drawn}, the answer would leave {left} about someone."

    def _scope(self, analyst: str) -> str:
        return analyst if self._policy.scope == "analyst" else ""

    def _of(self, analyst: str) -> Answered:
        scope = self._scope(analyst)
        if scope not in self._answered:
            self._answered[scope] = Answered(self._setting)
        return self._answered[scope]

    def _asked(self, statements: Sequence[Statement]) -> list[AskedStatement]:
        questions = ask(self._table, statements).questions
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
