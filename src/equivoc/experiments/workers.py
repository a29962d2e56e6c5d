"""Computes cells in one or several processes, yields each result when it is ready, and shows the progress."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TypeVar

from equivoc.errors import InputError
from equivoc.parallel import cores
from equivoc.temporary_files import signals_held_back

# Progress of a computation on stderr: a live bar, lines for logs, or nothing.

KINDS = ("auto", "bar", "plain", "none")
SECONDS_BETWEEN_LINES = 2.0

Tell = Callable[[int], None]
"""Called with the number of finished cells."""
Progress = str | Callable[[int, int], None]
"""One of KINDS, or a function that is called with the numbers of finished and of all cells."""


def checked_kind(progress: bool | Progress) -> Progress:
    """``True`` is auto, ``False`` none; a function stays one."""
    if callable(progress):
        return progress
    kind = progress if isinstance(progress, str) else "auto" if progress else "none"
    if kind not in KINDS:
        raise InputError(f"progress is {progress!r}; choose one of {', '.join(KINDS)}.")
    return kind


@contextmanager
def telling(kind: Progress, *, what: str, total: int, done: int) -> Iterator[Tell]:
    """Report how many of ``total`` cells of ``what`` is computed are done, ``done`` of them at the start."""
    if callable(kind):
        kind(done, total)
        yield partial(_all_cells, kind, total)
        return
    from rich.console import Console

    console = Console(stderr=True)
    if kind == "auto":
        kind = "bar" if console.is_terminal or console.is_jupyter else "none"
    if kind == "none":
        yield lambda now: None
    elif kind == "plain":
        yield _lines(what, total, done)
    else:
        with _bar(console, what, total, done) as tell:
            yield tell


def _all_cells(tell: Callable[[int, int], None], total: int, now: int) -> None:
    tell(now, total)


def _lines(what: str, total: int, before: int) -> Tell:
    begin = monotonic()
    last = begin
    print(f"{what}: {before} of {total} cells are done; beginning", file=sys.stderr, flush=True)

    def tell(now: int) -> None:
        nonlocal last
        time = monotonic()
        if now < total and time - last < SECONDS_BETWEEN_LINES:
            return
        last = time
        rate = (now - before) / max(time - begin, 1e-9)
        left = (
            f"{_duration((total - now) / rate)} left" if now < total else f"{_duration(time - begin)} taken"
        )
        print(f"{what}: {now} of {total} cells, {rate:.2f} cells/s, {left}", file=sys.stderr, flush=True)

    return tell


@contextmanager
def _bar(console: object, what: str, total: int, before: int) -> Iterator[Tell]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    begin = monotonic()
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cells"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console) as shown:  # type: ignore[arg-type]
        task = shown.add_task("", total=total, completed=before, rate="", left="")

        def tell(now: int) -> None:
            rate = (now - before) / max(monotonic() - begin, 1e-9)
            left = f"{_duration((total - now) / rate)} left" if now < total else ""
            shown.update(task, completed=now, rate=f"{rate:.2f} cells/s", left=left)

        yield tell


def _duration(seconds: float) -> str:
    """A duration as text.

    >>> _duration(7.2), _duration(131), _duration(7300)
    ('8 s', '2 min 11 s', '2 h 1 min')
    """
    whole = int(-(-seconds // 1))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


# Cells in one or several processes.

WAITING_PER_WORKER = 2
"""Cells queued per worker, so that none is idle while results are stored."""
Key = TypeVar("Key", contravariant=True)
Result = TypeVar("Result", covariant=True)


class Setting(Protocol[Key, Result]):
    """What all cells share; it is sent to every worker once."""

    def measure(self, key: Key) -> Result:
        """The result of one cell, a pure function of its key."""


def compute(setting: Setting[Key, Result], keys: Iterable[Key], *, workers: int) -> Iterator[Result]:
    """The results of all cells. One worker is this process; more are separate processes, one per core.

    Closing the iterator ends the workers at once. They also end when this process ends.
    """
    if workers == 1:
        for key in keys:
            yield setting.measure(key)
        return
    start = multiprocessing.get_context("spawn")  # a fork after threads have started may hang
    lifeline, ours = start.Pipe(duplex=False)
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, mp_context=start, initializer=_begin, initargs=(setting, lifeline))
    try:
        yield from _as_ready(pool.submit, iter(keys), workers * WAITING_PER_WORKER)
    except BrokenProcessPool:
        raise InputError(
            "A worker process ended too early. In a script, use several workers only under "
            "if __name__ == '__main__':, because each worker imports the script. If that is done, there may be too "
            f"little memory for {workers} workers: try workers=1."
        ) from None
    except BaseException:  # stopped: do not wait for workers that are still starting
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise
    finally:
        ours.close()
        pool.shutdown(wait=True, cancel_futures=True)
        lifeline.close()


def _as_ready(submit: Callable[..., Future[Any]], keys: Iterator[Any], at_a_time: int) -> Iterator[Any]:
    waiting: set[Future[Any]] = set()
    while True:
        with _interrupts_held():  # workers started here inherit that they ignore what ends us
            waiting |= {submit(_measure, key) for key in islice(keys, at_a_time - len(waiting))}
        if not waiting:
            return
        ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for done in ready:
            yield done.result()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delay Ctrl-C, and what a scheduler sends to the whole group of processes, until the end of this context."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        with signals_held_back():  # another thread may get them
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_setting: Setting[Any, Any]
"""In a worker: the setting it was started with."""


def _begin(setting: Setting[Any, Any], lifeline: Connection) -> None:
    global _setting
    _setting = setting
    threading.Thread(target=_leave_with_parent, args=(lifeline,), daemon=True).start()


def _leave_with_parent(lifeline: Connection) -> None:
    """Nothing is sent; reading ends when the parent closes its end or dies."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _measure(key: Any) -> Any:
    return _setting.measure(key)


# Computes the cells that are missing, in parallel; an interruption keeps what is finished.


class Interrupted(KeyboardInterrupt):
    """Stopped by Ctrl-C; the message says what is finished and how to continue."""


class CellStore(Protocol):
    """Where finished cells are kept."""

    @property
    def folder(self) -> Path:
        """The store's folder."""

    def add(self, cell: Any) -> None:
        """Store a finished cell; on return it is on disk."""

    def cells(self) -> Sequence[Any]:
        """All finished cells."""


def finish(
    what: str,
    setting: Setting[Any, Any],
    missing: Sequence[Any],
    store: CellStore | None,
    *,
    keep: Callable[[Any], None],
    total: int,
    workers: int,
    progress: Progress,
) -> None:
    """Compute the ``missing`` cells of ``total``; each is stored if there is a ``store``, then given to ``keep``.

    ``what`` is computed, such as "study", is named in the progress and in the message of an interruption.
    """
    if not missing:
        return
    workers = min(workers, len(missing), max(cores(), 2))
    done = total - len(missing)
    with (
        interruptible(what, store, total),
        telling(progress, what=what, total=total, done=done) as tell,
        closing(compute(setting, missing, workers=workers)) as results,  # type: ignore[type-var]
    ):
        for number, result in enumerate(results, done + 1):
            if store is not None:
                store.add(result)
            keep(result)
            tell(number)


@contextmanager
def interruptible(what: str, store: CellStore | None, total: int | None) -> Iterator[None]:
    """Ctrl-C in the block becomes `Interrupted`; ``total`` is None if nobody knows how many cells there will be."""
    try:
        yield
    except KeyboardInterrupt:
        if store is None:
            raise Interrupted("stopped; without a store, no result is kept.") from None
        of = "" if total is None else f" of {total}"
        raise Interrupted(
            f"stopped with {len(store.cells())}{of} cells done; they are kept in {store.folder}. "
            f"Run the same {what} again to continue."
        ) from None
