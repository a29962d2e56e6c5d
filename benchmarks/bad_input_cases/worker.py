"""Runs command lines one after another, each in a fork of this process or in a new process, as a user would.

Started as a script by `running`; reads one request per line (JSON) and answers with one line. The package is loaded
once; each fork has its own memory, time limit and working folder, so a crash affects only its case.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from contextlib import redirect_stderr
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

NOT_LOADED = ("equivoc.demo", "__main__")
"""These run something when they are imported."""
MOST_DATA = 4 * 2**30
"""So that a case which asks for all memory does not get it from the machine; what is judged is the measured peak."""
MOST_IN_A_FILE = 512 * 2**20


def main() -> None:
    _load()
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _load() -> None:
    """Import the whole package, including modules that commands import late; nothing is computed."""
    import equivoc

    for found in walk_packages(equivoc.__path__, "equivoc."):
        if not found.name.endswith(NOT_LOADED):
            import_module(found.name)
    for module in ("duckdb", "pandas", "pyarrow.compute", "pyarrow.parquet", "rich.table", "scipy.sparse"):
        import_module(module)
    with redirect_stderr(io.StringIO()):
        _call(["curve", "--no-such-option"])


def _run(order: dict[str, Any]) -> dict[str, Any]:
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _work(order)
    ended, status, used = 0, 0, None
    while not ended and time.monotonic() - start < order["seconds"]:
        ended, status, used = os.wait4(child, os.WNOHANG)
        time.sleep(0 if ended else 0.003)
    late = not ended
    if late:
        os.killpg(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
    assert used is not None
    return {
        "code": os.waitstatus_to_exitcode(status),
        "late": late,
        "seconds": time.monotonic() - start,
        "bytes": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }


def _work(order: dict[str, Any]) -> None:
    """The child: never returns."""
    code = 1
    try:
        os.setsid()
        _prepare(order)
        if order["real"]:
            line = ["-m", "equivoc", *order["line"]]
            os.execv(sys.executable, [sys.executable, *map(os.fsencode, line)])
        code = _call(order["line"])
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                code = code or 120  # as Python leaves when it cannot write its last words
        os._exit(code)


def _prepare(order: dict[str, Any]) -> None:
    """Set the working folder, the standard streams, and the limits on memory and time."""
    os.chdir(order["folder"])
    os.environ.update(order["environment"], TMPDIR=order["temporary"], COLUMNS="100")
    tempfile.tempdir = None
    writing = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for path, flags, number in (
        (order["stdin"], os.O_RDONLY, 0),
        (order["stdout"], writing, 1),
        (order["stderr"], writing, 2),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8", errors="strict")
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        io.FileIO(2, "w", closefd=False), encoding="utf-8", errors="backslashreplace"
    )
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    most = order["file_limit"] or MOST_IN_A_FILE
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _call(line: list[str]) -> int:
    from equivoc.cli.main import main as command

    sys.argv = ["equivoc", *line]
    try:
        command()
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
            return 1
        return int(left.code or 0)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
