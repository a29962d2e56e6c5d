"""Pieces of an index range, worked on by all cores. The kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_pieces(work: Callable[[slice], object], length: int, *, piece: int) -> None:
    """Call ``work`` on consecutive slices of 0 … length; several at a time where there are several."""
    slices = [slice(begin, min(begin + piece, length)) for begin in range(0, length, piece)]
    if len(slices) == 1 or cores() == 1:
        for part in slices:
            work(part)
        return
    with ThreadPoolExecutor(cores()) as pool:
        for done in [pool.submit(work, part) for part in slices]:
            done.result()
