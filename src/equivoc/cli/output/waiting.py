"""Messages on stderr while a command runs: that kernels are being compiled, and the elapsed time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

PATIENCE = 2.0
"""Seconds before the elapsed time is shown."""
COMPILING = "Compiling numerical kernels for the first run; this happens once."


@contextmanager
def waiting(doing: str, *, kernels: str = "equivoc.measure.lanes.sparse_kernels") -> Iterator[None]:
    """Print once that ``kernels`` are being compiled, if they are not yet; on a terminal, also show the elapsed time.

    In a pipe or a log file, only the line about kernels is printed.
    """
    from equivoc.measure.compiled import kernels_are_compiled

    if not kernels_are_compiled(kernels):
        print(COMPILING, file=sys.stderr, flush=True)
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    finished = threading.Event()
    teller = threading.Thread(target=_tell, args=(doing, finished), daemon=True)
    teller.start()
    try:
        yield
    finally:
        finished.set()
        teller.join()


def _tell(doing: str, finished: threading.Event) -> None:
    begin = monotonic()
    told = ""
    wait = PATIENCE
    while not finished.wait(wait):
        told = f"equivoc: {doing}, {monotonic() - begin:.0f} s"
        print(f"\r{told}", end="", file=sys.stderr, flush=True)
        wait = 1.0
    if told:
        print(f"\r{' ' * len(told)}\r", end="", file=sys.stderr, flush=True)
