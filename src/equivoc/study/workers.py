"""Cells, computed in this process or by several; results come as they are ready."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import Connection

from equivoc.errors import InputError
from equivoc.study.cell import CellKey, CellResult, Setting, measure_cell

WAITING_PER_WORKER = 2
"""Cells handed out per worker, so that none runs dry while results are stored."""


def compute(setting: Setting, keys: Iterable[CellKey], *, workers: int) -> Iterator[CellResult]:
    """The results of all cells. One worker is this process; more are processes of their own, a core each.

    Closing the iterator ends the workers at once. They also end when this process does, however it ends.
    """
    if workers == 1:
        for key in keys:
            yield measure_cell(setting, key)
        return
    start = multiprocessing.get_context("spawn")  # a fork after threads have started may hang
    lifeline, ours = start.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, mp_context=start, initializer=_begin, initargs=(setting, lifeline))
    try:
        yield from _as_ready(pool.submit, iter(keys), workers * WAITING_PER_WORKER)
    except BrokenProcessPool:
        raise InputError(
            "A worker process ended before its work was done. In a script, call run(workers=…) under "
            "if __name__ == '__main__':, for each worker imports the script; or there is too little memory for "
            f"{workers} workers; workers=1 needs neither."
        ) from None
    finally:
        ours.close()
        pool.shutdown(wait=True, cancel_futures=True)
        lifeline.close()


def _as_ready(
    submit: Callable[..., Future[CellResult]], keys: Iterator[CellKey], at_a_time: int
) -> Iterator[CellResult]:
    waiting: set[Future[CellResult]] = set()
    while True:
        with _interrupts_held():  # workers are started here; they inherit that Ctrl-C is not for them
            waiting |= {submit(_measure, key) for key in islice(keys, at_a_time - len(waiting))}
        if not waiting:
            return
        ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for done in ready:
            yield done.result()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C takes effect on leaving."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_setting: Setting
"""In a worker: what it was told on starting."""


def _begin(setting: Setting, lifeline: Connection) -> None:
    global _setting
    _setting = setting
    threading.Thread(target=_leave_with_parent, args=(lifeline,), daemon=True).start()


def _leave_with_parent(lifeline: Connection) -> None:
    """Nothing is ever sent; reading ends when the other end is closed: by the parent, or by its death."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _measure(key: CellKey) -> CellResult:
    return measure_cell(_setting, key)
