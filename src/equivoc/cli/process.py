"""The process of a command: its streams, its memory, Ctrl-C, and what it says while it waits."""

from __future__ import annotations

import codecs
import ctypes
import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from time import monotonic
from types import FrameType

from equivoc.errors import InputError
from equivoc.temporary_files import comes_too_early, remove_ours
from equivoc.text import written_with

# Standard output and error: readable in every encoding, with a message if the disk is full.

ERRORS = "equivoc-fallback"
ASCII = "equivoc-ascii"
"""ASCII under another name, because Typer writes UTF-8 to a stream whose encoding is named ASCII."""
OUTPUT_PROBLEMS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def prepare_streams() -> None:
    """Make the streams replace characters that their encoding lacks: ε by eps, ± by +/-, box lines by ASCII."""
    codecs.register_error(ERRORS, written_with)
    codecs.register(_ascii)
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is None:  # closed, or replaced by the caller
            continue
        plain = codecs.lookup(stream.encoding).name == "ascii"
        change(encoding=ASCII if plain else stream.encoding, errors=ERRORS)


def is_output_problem(problem: OSError) -> bool:
    """True if the output cannot be written, for example because the disk is full."""
    return problem.errno in OUTPUT_PROBLEMS


def discard_output() -> None:
    """Discard what is still buffered, so that Python does not report the same error again at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return


def _ascii(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != ASCII:
        return None
    found = codecs.lookup("ascii")
    return codecs.CodecInfo(
        found.encode,
        found.decode,
        found.streamreader,
        found.streamwriter,
        found.incrementalencoder,
        found.incrementaldecoder,
        ASCII,
    )


# Messages on stderr while a command runs: that kernels are being compiled, and the elapsed time.

PATIENCE = 2.0
"""Seconds before the elapsed time is shown."""
COMPILING = "Compiling numerical kernels for the first run; this happens once."


@contextmanager
def waiting(doing: str, *, kernels: str = "equivoc.measure.lane_kernels") -> Iterator[None]:
    """Print once that ``kernels`` are being compiled, if they are not yet; on a terminal, also show the elapsed time.

    In a pipe or a log file, only the line about kernels is printed.
    """
    from equivoc.parallel import kernels_are_compiled

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
    line = ""
    wait = PATIENCE
    while not finished.wait(wait):
        line = f"equivoc: {doing}, {monotonic() - begin:.0f} s"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)
        wait = 1.0
    if line:
        print(f"\r{' ' * len(line)}\r", end="", file=sys.stderr, flush=True)


# A limit on virtual memory (``ulimit -v``): addresses are saved, and what does not fit is said in a sentence.
#
# Native libraries reserve addresses when they are loaded and when they start threads. Where these are
# refused, OpenBLAS tries again for ever and DuckDB ends the process. Under a limit the libraries are
# therefore loaded first.

NEEDED, NEEDED_PER_CORE = 1120 << 20, 16 << 20
"""Bytes of addresses to load the libraries and to compile kernels: in 950 MB one of them ended the process, in 1,200 MB
none. The second is for each core, because every thread has a stack."""
HEADROOM = 64 << 20
"""Bytes that have to be free when the libraries are loaded."""
ARENA_MAX = -8
"""The C library's number for the most arenas, each of which reserves 64 MiB of addresses for a thread or two."""
SIGNS = (
    "failed to map segment",
    "annot allocate memory",
    "can't start new thread",
    "bad_alloc",
    "out of memory",
)
"""Words of errors that are about memory, whatever their type."""
OTHERWISE = "Use fewer keys or fewer values, or a machine with more memory"


def limit() -> int | None:
    """The most bytes of addresses that this process may have; None: no limit, or a system that does not keep it."""
    if sys.platform != "linux":
        return None
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most


def save_addresses() -> None:
    """Under a limit: one arena and one thread of OpenBLAS, in this process and in those that it starts."""
    if limit() is None:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(ARENA_MAX, 1)


def load_libraries() -> None:
    """Under a limit: load the native libraries and let them reserve what they need.

    InputError if the limit is too low for that, MemoryError if nothing is left afterwards.
    """
    most = limit()
    if most is None:
        return
    needed = NEEDED + NEEDED_PER_CORE * (os.cpu_count() or 1)
    if most < needed:
        raise InputError(
            f"virtual memory is limited to {_size(most)} (ulimit -v), and the libraries need at least {_size(needed)} "
            "of addresses, though less memory. Raise the limit"
        )
    import numpy as np
    import scipy.linalg

    square = np.eye(64)
    scipy.linalg.solve(square @ square, square[0])
    for library in ("numba.np.arraymath", "pandas", "pyarrow.parquet"):
        import_module(library)
    from equivoc.engines.duckdb import start

    start()
    if most - _used() < HEADROOM:
        raise MemoryError


def want_of_memory(problem: BaseException) -> str | None:
    """The sentence for an error that came from a lack of memory; None if it did not."""
    seen: BaseException | None = problem
    while seen is not None and not _is_about_memory(seen):
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    if seen is None:
        return None
    most = limit()
    if most is None:
        return f"there is not enough memory. {OTHERWISE}"
    return (
        f"there is not enough memory: virtual memory is limited to {_size(most)} (ulimit -v). "
        f"{OTHERWISE}, or raise the limit"
    )


def _is_about_memory(problem: BaseException) -> bool:
    if isinstance(problem, MemoryError) or getattr(problem, "errno", None) == errno.ENOMEM:
        return True
    return isinstance(problem, Exception) and any(sign in str(problem) for sign in SIGNS)


def _used() -> int:
    """Bytes of addresses that this process has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _size(count: int) -> str:
    return f"{count / 2**30:,.2f} GiB"


# Ctrl-C: a command ends with one sentence and exit code 130, whatever a library under way makes of the
# signal.

STOPPED = 130
"""The exit code, as of a shell whose command SIGINT ended."""


class StoppedError(Exception):
    """The command was stopped by Ctrl-C; the message is the sentence to print."""


class CtrlC:
    """Whether it was pressed."""

    pressed = False


@contextmanager
def noticing_ctrl_c() -> Iterator[CtrlC]:
    """Raise `StoppedError` in place of whatever ends the block after Ctrl-C.

    DuckDB says RuntimeError, an extension module that is being loaded ImportError, and Typer returns a number.
    """
    found = CtrlC()

    def press(number: int, frame: FrameType | None) -> None:
        found.pressed = True
        signal.default_int_handler(number, frame)

    in_main_thread = threading.current_thread() is threading.main_thread()
    # A command that a script started with `&` ignores SIGINT, and goes on ignoring it.
    ours = in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, press)
    try:
        yield found
    except StoppedError:
        raise
    except BaseException as ended:
        if not (found.pressed or isinstance(ended, KeyboardInterrupt)):
            raise
        raise StoppedError("stopped.") from None
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


# A command that is asked to end, by a scheduler, ``timeout`` or a closed terminal, ends in order as after
# Ctrl-C.

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
SECONDS_TO_END = 5.0
"""Seconds in which a command ends in order; then it ends at once."""


class Stopped(KeyboardInterrupt):
    """Raised where the command is when the signal comes."""


@contextmanager
def ended_in_order() -> Iterator[None]:
    """After a signal of `SIGNALS` the block ends by `Stopped`, and then the process by that signal.

    What was temporary is gone then, even if something swallows the exception or the block does not end for long.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if comes_too_early(number):
            return
        if came:  # asked twice
            _end(number)
        came.append(number)
        late = threading.Timer(SECONDS_TO_END, _end, [number])
        late.daemon = True
        late.start()
        raise Stopped(signal.Signals(number).name)

    # A signal that whoever started the command ignores, as nohup does, stays ignored.
    ours = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, stop)
        yield
    finally:
        if came:
            _end(came[0])
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
        remove_ours()


def _end(number: int) -> None:
    """Leave nothing temporary, and end by the signal, so that whoever sent it sees that it worked."""
    remove_ours()
    if threading.current_thread() is threading.main_thread():
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(128 + number)
