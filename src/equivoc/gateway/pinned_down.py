"""Whom the true answers pin down: what an auditor would compute from all of them, for the owner alone.

Decisions are taken before an answer, over drawn databases. This is the look back: from the answers that were given, and
from nothing else of the data, so how long it takes tells an analyst nothing that she could not compute herself.

After each answer a process of its own looks back. It gets the answers and what everyone knows, no value of a person; it
runs at the lowest priority, and is ended when it takes too long. Answers that are given meanwhile are looked at
together, afterwards.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.systems.system import Question
from equivoc.text import counted

WORK = 1e8
"""Elementary steps for the posteriors of one linked part of the people: about a second."""
SAMPLED = ("Gibbs sampling", "Gibbs sampling, rough")
UNSETTLED = ("bounds", "Gibbs sampling, rough")
"""Methods whose posteriors may show less than an analyst could compute."""


@dataclass(frozen=True)
class PinnedDown:
    """About how many people the answers up to an entry tell too much."""

    number: int
    """The last answered entry that was counted."""
    exact: int | None
    """People of whom one value is left; None: the computation took too long and was given up."""
    below: int = 0
    """People with less uncertainty than ``least_h0``, those with one value included."""
    unsettled: int = 0
    """Further people of whom this could not be computed with the work allowed: there may be more of both kinds."""

    def text(self) -> str:
        """In words.

        >>> PinnedDown(7, 12, 15, 3).text(), PinnedDown(7, 0).text(), PinnedDown(7, None).text()
        ('12 people exactly, 15 below the limit; 3 not settled', 'nobody', 'not computed in time')
        """
        if self.exact is None:
            return "not computed in time"
        found = []
        if self.exact:
            found.append(f"{counted(self.exact, 'person')} exactly")
        if self.below > self.exact:
            found.append(
                f"{counted(self.below, 'person') if not found else f'{self.below:,}'} below the limit"
            )
        people = ", ".join(found) or "nobody"
        return f"{people}; {self.unsettled:,} not settled" if self.unsettled else people


@dataclass(frozen=True, eq=False)
class AnswersSoFar:
    """The answers up to an entry, and what everyone knows of the people: it can be sent to another process."""

    number: int
    questions: tuple[Question, ...] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    """The domain."""
    keys: Mapping[str, NDArray[np.int64]] = field(repr=False)
    """For each key, the rank of everyone's value."""
    people: int
    least_h0: float

    def pinned_down(self, *, work: float = WORK) -> PinnedDown:
        """Whom they pin down, if every database that fits them is equally likely."""
        from equivoc.systems.bounds.bounds import person_bounds
        from equivoc.systems.constraints import answer_system
        from equivoc.systems.posteriors.posteriors import atom_posteriors

        system = answer_system(self.questions, values=self.values, people=self.people)
        bounds = person_bounds(system, orders=self._orders(system.atoms.of_person, len(system.atoms)))
        even = np.full(len(self.values), 1 / len(self.values))
        found = atom_posteriors(system, prior=even, bounds=bounds, work=work)
        method = np.array(found.method, dtype=object)
        kept = found.probabilities
        logs = np.log2(kept, out=np.zeros_like(kept), where=kept > 0)
        entropy = -(kept * logs).sum(axis=1)
        one = (bounds.low == bounds.high) | (((kept > 0).sum(axis=1) == 1) & ~np.isin(method, SAMPLED))
        below = one | (entropy < self.least_h0)
        unsettled = ~below & (np.isin(method, UNSETTLED) | found.left_out)
        counts = (int(each[system.atoms.of_person].sum()) for each in (one, below, unsettled))
        return PinnedDown(self.number, *counts)

    def _orders(self, atom: NDArray[np.int64], atoms: int) -> Sequence[NDArray[np.int64]]:
        """The atoms in the order of each key: where all query sets are ranges of one key, bounds are exact."""
        orders = []
        for ranks in self.keys.values():
            least = np.full(atoms, np.iinfo(np.int64).max)
            np.minimum.at(least, atom, ranks)
            orders.append(least)
        return orders


PATIENCE = 60
"""Seconds for one look back; then it is given up, and the log says so."""
PULSE = 0.2


class Gate(Protocol):
    """What is needed of a gateway."""

    def so_far(self) -> AnswersSoFar: ...

    def note(self, pinned: PinnedDown) -> None: ...

    def last_note(self) -> PinnedDown | None: ...


class LookingBack:
    """A thread that waits for answers, and the process that it starts for them."""

    def __init__(
        self, gate: Gate, *, tell: Callable[[str], None] = lambda sentence: None, patience: int = PATIENCE
    ) -> None:
        self._gate = gate
        self._tell = tell
        self._patience = patience
        self._start = multiprocessing.get_context("spawn")  # a fork after threads have started may hang
        self._wake, self._ended = threading.Event(), threading.Event()
        last = gate.last_note()
        self._exact = last.exact or 0 if last else 0
        self._thread = threading.Thread(target=self._run, name="equivoc-looking-back", daemon=True)
        self._thread.start()
        if gate.so_far().number > (last.number if last else 0):
            self.wake()

    def wake(self) -> None:
        """An answer was given. Returns at once."""
        self._wake.set()

    def close(self) -> None:
        """End the thread, and the process if it runs."""
        self._ended.set()
        self._wake.set()
        self._thread.join()

    def __enter__(self) -> LookingBack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        while self._wake.wait() and not self._ended.is_set():
            self._wake.clear()
            with suppress(InputError):  # the gateway has stopped
                self._look()

    def _look(self) -> None:
        answers = self._gate.so_far()
        found = self._computed(answers)
        if self._ended.is_set():
            return
        pinned = PinnedDown(answers.number, None) if found is None else found
        self._gate.note(pinned)
        if pinned.exact is not None and pinned.exact > self._exact:
            self._tell(
                f"After entry {pinned.number}, the answers tell {counted(pinned.exact, 'person')} exactly (before: "
                f"{self._exact:,}). equivoc audit says who they are, and which answers did it."
            )
            self._exact = pinned.exact

    def _computed(self, answers: AnswersSoFar) -> PinnedDown | None:
        """None if it took too long, or failed for want of memory."""
        ours, theirs = self._start.Pipe(duplex=False)
        process = self._start.Process(
            target=_compute, args=(theirs, answers, self._patience), daemon=True, name="equivoc-looking-back"
        )
        process.start()
        theirs.close()
        try:
            for _ in range(int(self._patience / PULSE)):
                if self._ended.is_set():
                    return None
                if ours.poll(PULSE):
                    found: PinnedDown = ours.recv()
                    return found
            return None
        except EOFError:
            return None
        finally:
            process.kill()
            process.join()
            ours.close()


def _compute(pipe: Connection, answers: AnswersSoFar, patience: int) -> None:
    """The process. It ends in time also if the service was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service
    signal.alarm(patience + 5)
    os.nice(19)
    with suppress(MemoryError):
        pipe.send(answers.pinned_down())
