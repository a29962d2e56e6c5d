"""After each answer, in a process of its own and without hurry: whom do all answers so far pin down?

The process gets the answers and what everyone knows, no value of a person; it runs at the lowest priority, and is ended
when it takes too long. Answers that are given meanwhile are looked at together, afterwards.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Protocol

from equivoc.errors import InputError
from equivoc.gateway.pinned_down import AnswersSoFar, PinnedDown
from equivoc.text import counted

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
