"""The gateway: holds the data, takes questions in SQL, and answers exactly or refuses."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from equivoc.data.fingerprint import data_fingerprint
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.gateway.history import Decision, Entry, History
from equivoc.gateway.pinned_down import WORK, AnswersSoFar, PinnedDown
from equivoc.gateway.policy import Policy, as_policy
from equivoc.text import bits, counted, printable

LONGEST_NAME = 200
POOL_EVERY = 20
"""After how many answered statements the drawn databases are saved; those after them are drawn again at a start."""
MOST_DRAWN_VALUES = 100_000_000
"""Draws × people, 8 bytes each."""
LONGEST_INVALID = 2_000
"""How many characters of a text that is no question are kept in the log."""


@dataclass(frozen=True)
class Reply:
    """What became of a question."""

    answered: bool
    value: Any
    """A number; for GROUP BY or several aggregates, a list with a dictionary for each group; None if refused."""
    reason: str
    """Why it was answered or refused. Under a simulatable policy it depends on questions and past answers only."""
    number: int
    """Its number in the log."""


class Gateway:
    """Answers SUM, AVG, MIN, MAX and COUNT over query sets of people, exactly or not at all.

    In this order: a repeated question gets its answer again; MEDIAN, VARIANCE and STDDEV are refused; so are conditions
    that do not end on the policy's class edges, query sets (or complements) of fewer than k people, sums by which a sum
    of fewer than k people would be known, and questions whose answer would probably disclose someone, judged over
    databases drawn from the past answers. Only the last rule depends on answers at all.

    ``policy``: limits by name, a `Policy`, or the path of a TOML file. ``store``: an SQLite file with every question,
    decision and answer; a gateway that is opened on it again decides as if it had never been closed.

    >>> import pandas as pd, tempfile
    >>> frame = pd.DataFrame({"age": range(20, 60), "pay": [10, 20, 30, 40] * 10})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> with tempfile.TemporaryDirectory() as folder, Gateway(people, store=f"{folder}/gateway.sqlite") as gate:
    ...     gate.ask("SELECT SUM(pay) FROM people WHERE age >= 40", analyst="a").value
    ...     gate.ask("SELECT SUM(pay) FROM people WHERE age >= 41", analyst="b").reason
    500.0
    'with the answers given before, the sum of fewer than 3 people would be known.'
    """

    def __init__(
        self,
        people: Microdata,
        *,
        policy: Policy | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        store: str | os.PathLike[str],
        simulatable: bool | None = None,
        accept_looser_policy: bool = False,
    ) -> None:
        from equivoc.gateway.decisions import Decisions

        check_people("people", people)
        self.people = people
        self.policy = as_policy(policy, simulatable=simulatable)
        """The limits in force."""
        if not isinstance(store, (str, os.PathLike)) or "\0" in os.fspath(store):
            raise InputError(f"store is {store!r}; give the path of an SQLite file.")
        _check_limits(people, self.policy)
        self._one_at_a_time = threading.Lock()
        self._closed: str | None = None
        history = History.open(
            Path(store),
            data=lambda salt: data_fingerprint(people, salt),
            policy=self.policy,
            accept_looser_policy=accept_looser_policy,
        )
        try:
            self._decisions = Decisions(people, self.policy, secret=history.salt)
            entries = history.entries()
            self._decisions.replay(entries, history.pools())
            given = [entry.number for entry in entries if entry.decision == "answered"]
            self._last_answered = given[-1] if given else 0
        except BaseException:
            history.close()
            raise
        self._history = history
        self.warnings = self._decisions.warnings()
        """What the owner has to know of these data under this policy, in sentences: not for analysts."""

    def ask(self, sql: str, *, analyst: str) -> Reply:
        """Decide one question; questions from several threads are decided one after the other.

        Text that is no such question is an InputError, and is logged too. When this returns, question, decision and
        answer are on disk.
        """
        _check_name(analyst)
        with self._one_at_a_time:
            self._check_open()
            try:
                asked = self._decisions.read(sql)
            except InputError as mistake:
                begin = printable(sql)[:LONGEST_INVALID] if isinstance(sql, str) else ""
                self._record(analyst, begin, "invalid", str(mistake), None)
                raise
            with self._whole_or_stopped():
                verdict = self._decisions.judge(asked, analyst)
            value = asked.value() if verdict.decision != "refused" else None
            entry = self._record(analyst, asked.text, verdict.decision, verdict.reason, value)
            if verdict.decision != "refused":
                with self._whole_or_stopped():
                    self._decisions.take(asked, analyst, verdict)
                if verdict.decision == "answered":
                    self._last_answered = entry.number
                self._save_pools(every=POOL_EVERY)
            return Reply(verdict.decision != "refused", entry.value, entry.reason, entry.number)

    def history(self, analyst: str | None = None) -> tuple[Entry, ...]:
        """The log in its order, or one analyst's part of it."""
        with self._one_at_a_time:
            self._check_open()
            return self._history.entries(analyst)

    def pinned_down(self, *, work: float = WORK) -> PinnedDown:
        """Whom all answers so far pin down, for the owner alone; it is also kept in the log.

        ``work``: elementary steps for each linked part of the people (1e8 take about a second). `ask` does not wait
        for this: the service computes it in a process of its own after each answer.
        """
        found = self.so_far().pinned_down(work=work)
        self.note(found)
        return found

    def so_far(self) -> AnswersSoFar:
        """All answers that were given, as they are known outside."""
        with self._one_at_a_time:
            self._check_open()
            return AnswersSoFar(
                self._last_answered,
                tuple(self._decisions.answered_questions.values()),
                self.people.values,
                {key: self.people.key_codes(key).astype("int64") for key in self.people.keys},
                len(self.people),
                self.policy.least_h0,
            )

    def note(self, pinned: PinnedDown) -> None:
        """Keep in the log whom the answers pinned down."""
        with self._one_at_a_time:
            self._check_open()
            self._history.note(pinned)

    def last_note(self) -> PinnedDown | None:
        """What was kept last; None if nothing was."""
        with self._one_at_a_time:
            self._check_open()
            return self._history.last_note()

    @property
    def stopped(self) -> str | None:
        """Why nothing more is answered: it was closed, or its log could not be written; None while it answers."""
        return self._closed

    def close(self) -> None:
        """Close the store, so that another gateway can open it."""
        with self._one_at_a_time:
            if self._closed is None:
                self._save_pools(every=1)
                self._history.close()
                self._closed = "the gateway is closed."

    def __enter__(self) -> Gateway:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _record(self, analyst: str, question: str, decision: Decision, reason: str, value: Any) -> Entry:
        """Write to the log; if that fails, nothing more is answered: the file may or may not hold the entry."""
        try:
            return self._history.record(analyst, question, decision, reason, value)
        except BaseException as problem:
            self._history.close()
            self._closed = f"the gateway stopped, because its log could not be written: {problem}"
            raise

    @contextmanager
    def _whole_or_stopped(self) -> Iterator[None]:
        """If a decision is interrupted, stop: what was answered may be remembered in part only.

        The log is whole, and a gateway that is opened on it again remembers everything.
        """
        try:
            yield
        except BaseException as problem:
            self._history.close()
            kind = type(problem).__name__
            self._closed = f"the gateway stopped, because a decision was interrupted ({kind}); open it again."
            raise

    def _save_pools(self, *, every: int) -> None:
        """Save drawn databases, which only makes the next start faster: without them they are drawn again."""
        with suppress(InputError):
            for scope, pool in self._decisions.unsaved_pools(every=every).items():
                self._history.save_pool(scope, pool)

    def _check_open(self) -> None:
        if self._closed is not None:
            raise InputError(self._closed)


def _check_limits(people: Microdata, policy: Policy) -> None:
    """InputError for limits that no answer about these people can meet, before anything is stored."""
    from equivoc.gateway.edges import key_classes
    from equivoc.sql.exact_aggregates import ConfidentialValues
    from equivoc.sql.schema import schema_of
    from equivoc.systems.constraints import answer_grid

    if not people.attribute.numeric:
        raise InputError(f"{people.confidential} is not a number; a gateway answers sums of numbers.")
    if 2 * policy.least_people > len(people):
        raise InputError(
            f"least_people is {policy.least_people}, but there are only {counted(len(people), 'person')}: no query "
            "set and its complement are both so large."
        )
    if policy.simulatable and policy.draws * len(people) > MOST_DRAWN_VALUES:
        raise InputError(
            f"draws is {policy.draws:,}, too many databases of {counted(len(people), 'person')} to keep in memory; "
            f"give at most {MOST_DRAWN_VALUES // len(people):,}."
        )
    key_classes(people, schema_of(people), policy.edges)
    ConfidentialValues(people.values[people.codes])
    answer_grid(people.values, people=len(people))
    most = math.log2(len(people.values))
    if policy.least_h0 >= most > 0 or len(people.values) == 1:
        raise InputError(
            f"least_h0 is {bits(policy.least_h0)}, but {counted(len(people.values), 'value')} of "
            f"{people.confidential} give at most {bits(most)} before any answer; lower least_h0."
            if most
            else f"{people.confidential} has only one value, which everyone knows."
        )


def _check_name(analyst: object) -> None:
    if not isinstance(analyst, str) or not analyst.strip() or len(analyst) > LONGEST_NAME:
        raise InputError(f"analyst is {analyst!r}; give a name of at most {LONGEST_NAME} characters.")
    try:
        analyst.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("analyst holds half of a surrogate pair, which is no character.") from None
