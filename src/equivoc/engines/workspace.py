"""How much memory DuckDB may use, and the folder for what does not fit into it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from equivoc.arguments import size_in_bytes
from equivoc.errors import InputError

LEAST_MEMORY = 128 * 2**20
"""With less memory than this for each thread, DuckDB may not be able to read a file."""


@dataclass(frozen=True)
class Workspace:
    """A limit on DuckDB's memory, and a folder in which it may put what does not fit.

    The limit is on what the engine uses to read and count; the counts themselves, 8 bytes for each cell, and
    everything that is computed from them come on top.
    """

    memory_limit: int | None = None
    """In bytes; None: four fifths of the machine's memory, which is DuckDB's own limit."""
    spill: Path | None = None
    """An existing folder; None: nothing is written to disk, and what does not fit is an error."""
    spill_limit: int | None = None
    """The most bytes that may be written there; None: nine tenths of the free space."""

    def __post_init__(self) -> None:
        if self.memory_limit is not None and self.memory_limit < LEAST_MEMORY:
            raise InputError(
                f"memory_limit is {self.memory_limit:,} bytes; give at least {LEAST_MEMORY / 2**20:g}MiB."
            )
        if self.spill is not None and not self.spill.is_dir():
            raise InputError(f"spill: {self.spill} is not a folder; create it, or name another one.")

    @contextmanager
    def folder(self) -> Iterator[Path | None]:
        """A new folder inside ``spill`` that only its owner can enter, removed afterwards; None without ``spill``."""
        if self.spill is None:
            yield None
            return
        try:
            made = Path(tempfile.mkdtemp(prefix="equivoc-", dir=self.spill.resolve()))
        except OSError as refused:
            raise InputError(f"spill: {self.spill} cannot be written: {refused.strerror}.") from None
        with _removed_if_terminated(made):
            try:
                yield made
            finally:
                shutil.rmtree(made, ignore_errors=True)

    @property
    def threads(self) -> int | None:
        """How many threads fit into the limit; None: as many as there are cores."""
        cores = os.cpu_count() or 1
        return None if self.memory_limit is None else max(1, min(cores, self.memory_limit // LEAST_MEMORY))

    @property
    def advice(self) -> str:
        """What to do if the memory is too small."""
        if self.spill is None:
            return "raise memory_limit, or name a folder for temporary data with spill"
        return "raise memory_limit"


def workspace(memory_limit: object, spill: object) -> Workspace:
    """The limit and the folder as a caller gives them: 2147483648 or "2GiB", and a path."""
    if spill is not None and not isinstance(spill, (str, os.PathLike)):
        raise InputError(f"spill is {spill!r}; give the path of a folder.")
    return Workspace(
        None if memory_limit is None else size_in_bytes("memory_limit", memory_limit),
        None if spill is None else Path(spill),
    )


@contextmanager
def _removed_if_terminated(folder: Path) -> Iterator[None]:
    """Remove the folder if SIGTERM ends the process, unless the program handles SIGTERM itself."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
