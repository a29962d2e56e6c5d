"""Pieces of work for all cores. The kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

_alone: ContextVar[bool] = ContextVar("_alone", default=False)


def cores() -> int:
    """How many cores this process may use."""
    if _alone.get():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def on_one_core() -> Iterator[None]:
    """What is computed inside starts no threads: for work of which there is enough to give each core its own."""
    before = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(before)


@cache
def _threads() -> ThreadPoolExecutor:
    """Kept from one call to the next: to start a thread and to wait for its end takes as long as a small kernel."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="equivoc")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_threads.cache_clear)


def over_pieces(work: Callable[[slice], object], length: int, *, piece: int) -> None:
    """Call ``work`` on consecutive slices of 0 … length; several at a time where there are several.

    The caller's thread takes part, and whichever is free takes the next slice: a thread that is slow to start delays
    nothing. When something goes wrong nobody takes another slice, and nobody is still at work on return.
    """
    slices = [slice(begin, min(begin + piece, length)) for begin in range(0, length, piece)]
    waiting = iter(slices)

    def take() -> None:
        try:
            for part in waiting:
                work(part)
        except BaseException:
            for _ in waiting:
                pass
            raise

    others = min(cores(), len(slices)) - 1
    if others < 1:
        take()
        return
    coming = [_threads().submit(take) for _ in range(others)]
    try:
        take()
    finally:
        started = [done for done in coming if not done.cancel()]
        wait(started)
    for done in started:
        done.result()
