"""Splits work among threads, one per core. The kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path

_alone: ContextVar[bool] = ContextVar("_alone", default=False)


def cores() -> int:
    """How many cores this process may use."""
    if _alone.get():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def on_one_core() -> Iterator[None]:
    """Inside this context no threads are started: for callers that already run one process or thread per core."""
    before = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(before)


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads are reused between calls: starting one takes as long as a small kernel."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="equivoc")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_threads.cache_clear)


def over_pieces(work: Callable[[slice], object], length: int, *, piece: int) -> None:
    """Call ``work`` on consecutive slices of 0 … length, in parallel if there are several.

    The caller's thread takes part, and each free thread takes the next slice, so a slow start of a thread delays
    nothing. After an error no further slice is started, and no thread is still running on return.
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


# Whether the kernels are compiled. Numba caches them on disk; the first run compiles for up to ten seconds.


def kernels_are_compiled(module: str = "equivoc.measure.lane_kernels") -> bool:
    """True if Numba's cache holds a compiled kernel of this module, or if there is no cache to check."""
    kernels = import_module(module)
    folders = {
        getattr(getattr(kernel, "_cache", None), "cache_path", None) for kernel in vars(kernels).values()
    }
    found = [Path(folder) for folder in folders if folder]
    name = module.rsplit(".", 1)[1]
    return not found or any(any(folder.glob(f"{name}.*.nbi")) for folder in found)
