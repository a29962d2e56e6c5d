"""A warm process: it holds the people, answers one question at a time, and is started again if it dies."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from threading import RLock
from typing import Any

from equivoc.errors import InputError
from equivoc.reading.reading import TwoReadingsError
from equivoc.web.people_spec import PeopleSpec

problems = logging.getLogger("equivoc.web")
PATIENCE = 120.0
"""Seconds that an answer may take; reading people may take longer."""
READING = 1800.0
NICE = 5
"""How much longer work gives way to live answers."""
REST = 120.0
"""Seconds without a question after which a patient process ends: what it holds is mostly libraries."""


class AnswerError(Exception):
    """The process has failed, or was ended; the sentence is for the user."""


class WarmProcess:
    """The server's end. Calls are made from one event loop, and answered in order.

    A ``patient`` process gives way to others on a busy machine, and ends after ``rest`` seconds without a question.
    """

    def __init__(self, *, patient: bool = False, rest: float = REST) -> None:
        self._patient = patient
        self._rest = rest
        self._resting: asyncio.TimerHandle | None = None
        self._start = multiprocessing.get_context("spawn")  # a fork after threads have started may hang
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="equivoc-warm")
        self._process: Any = None
        self._pipe: Connection | None = None
        self._spec: PeopleSpec | None = None
        self._holds: PeopleSpec | None = None
        self._lock = asyncio.Lock()
        self._starting = RLock()
        """Held while the process is started, in another thread: half a process cannot be ended."""
        self._ended = False

    def forget(self) -> None:
        """The people are not asked about any more; the memory is free before the next ones are read."""
        self._spec = None

    async def people(self, spec: PeopleSpec | None) -> Any:
        """Read the people; what is known about them. They are read anew after a restart."""
        async with self._lock:
            self._spec, self._holds = None, None
            self._rest_later()
            reply = await self._ask("people", spec, READING)
            self._spec = self._holds = spec
            return reply

    async def ask(self, name: str, given: Any = None, *, patience: float = PATIENCE) -> Any:
        """The answer of this name. InputError is the caller's mistake, AnswerError ours or a limit of time."""
        async with self._lock:
            self._rest_later()
            if self._holds is not self._spec:
                await self._ask("people", self._spec, READING)
                self._holds = self._spec
            return await self._ask(name, given, patience)

    def _rest_later(self) -> None:
        """End a patient process when nothing has been asked for a while."""
        if not self._patient:
            return
        if self._resting is not None:
            self._resting.cancel()
        self._resting = asyncio.get_running_loop().call_later(self._rest, self._rest_now)

    def _rest_now(self) -> None:
        if self._lock.locked():  # it is still answering
            self._rest_later()
        else:
            self.restart()

    async def _ask(self, name: str, given: Any, patience: float) -> Any:
        loop = asyncio.get_running_loop()
        try:
            kind, reply = await loop.run_in_executor(self._pool, self._exchange, name, given, patience)
        except TimeoutError:
            self.restart()
            raise AnswerError(
                f"this took more than {patience:.0f} s and was stopped; try fewer keys or a report."
            ) from None
        except (EOFError, OSError):
            self.restart()
            raise AnswerError(
                "the process that computes has ended, perhaps for want of memory; try again."
            ) from None
        if kind == "mistake":
            raise InputError(reply)
        if kind == "question":
            raise TwoReadingsError(*reply)
        if kind == "failure":
            raise AnswerError("the computation has failed; this is our fault.")
        return reply

    def _exchange(self, name: str, given: Any, patience: float) -> tuple[str, Any]:
        pipe = self._running()
        pipe.send((name, given))
        if not pipe.poll(patience):
            raise TimeoutError
        kind, reply = pipe.recv()
        return kind, reply

    def _running(self) -> Connection:
        with self._starting:
            if self._ended:
                raise EOFError
            if self._process is None or not self._process.is_alive() or self._pipe is None:
                self.restart()
                self._pipe, theirs = self._start.Pipe()
                self._process = self._start.Process(
                    target=answer_questions, args=(theirs, self._patient), daemon=True, name="equivoc-warm"
                )
                self._process.start()
                theirs.close()
            return self._pipe

    def restart(self) -> None:
        """End the process; the next question starts it again."""
        self._holds = None
        with self._starting:
            process, pipe = self._process, self._pipe
            self._process = self._pipe = None
        if process is not None:
            process.kill()
            process.join()
        if pipe is not None:
            pipe.close()

    def end(self) -> None:
        """End the process for good."""
        self._ended = True
        if self._resting is not None:
            self._resting.cancel()
        self.restart()
        self._pool.shutdown(wait=False, cancel_futures=True)


def answer_questions(pipe: Connection, patient: bool) -> None:
    """The process's end: answer until the server closes the pipe or dies. A ``patient`` one lets others go first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    os.umask(0o077)
    if patient:
        os.nice(NICE)
    from equivoc.web.answers import Answers

    answers = Answers()
    while True:
        try:
            name, given = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            reply: tuple[str, Any] = ("answer", answers(name, given))
        except TwoReadingsError as question:
            reply = ("question", (str(question), question.answers))
        except InputError as mistake:
            spec = None if answers.held is None else answers.held.spec
            reply = ("mistake", str(mistake) if spec is None else spec.renamed(str(mistake)))
        except MemoryError:
            reply = ("mistake", "there is not enough memory for this; use fewer keys or fewer values.")
        except Exception as problem:  # its message could hold a value of a person
            place = traceback.extract_tb(problem.__traceback__)[-1]
            print(f"equivoc: {type(problem).__name__} in {place.name}, line {place.lineno}", file=sys.stderr)
            reply = ("failure", None)
        pipe.send(reply)
