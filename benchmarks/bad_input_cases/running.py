"""Runs each case in its own folder and reports what is wrong with its result."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

from .case import ACCEPTED, REFUSED, Case

MOST_BYTES = 2 * 2**30
MOST_SECONDS = 30
MOST_SECONDS_IF_ACCEPTED = 300
"""What is computed may need kernels that have never been compiled on this machine."""
LONGEST_SENTENCE = 600
INSIDES = re.compile(
    r"Traceback|Exception ignored|Error:|<class |object at 0x|\bErrno\b|pyarrow\.|duckdb\.|numpy\.|sqlite3\."
)
"""Words that no sentence to a user needs."""


@dataclass(frozen=True)
class Outcome:
    """The result of a case."""

    case: Case
    faults: tuple[tuple[str, str], ...]
    """Each a kind of fault, and what was seen."""
    said: str
    seconds: float
    skipped: bool = False


@dataclass(frozen=True)
class Worker:
    """A process that has the package loaded; started again if it ends."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls) -> Worker:
        # One thread for each library: a fork of a process with several of them may hang.
        single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, str(Path(__file__).with_name("worker.py"))]
        pipe = subprocess.PIPE
        return cls(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | single))

    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise ChildProcessError(f"the worker ended with code {self.process.wait()}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def run_all(cases: Sequence[Case], *, at_once: int) -> Iterator[Outcome]:
    """The outcomes, in the order of the cases."""
    with TemporaryDirectory(prefix="bad-input-") as root, _workers(at_once) as free:

        def one(numbered: tuple[int, Case]) -> Outcome:
            number, case = numbered
            with TemporaryDirectory(dir=root, prefix=f"{number}-") as place:
                worker = free.get()
                try:
                    return _run(case, Path(place), worker)
                except ChildProcessError as ended:
                    worker = Worker.start()
                    return Outcome(case, (("crash", str(ended)),), "", 0.0)
                finally:
                    free.put(worker)

        with ThreadPoolExecutor(at_once) as pool:
            yield from pool.map(one, enumerate(cases))


@contextmanager
def _workers(number: int) -> Iterator[SimpleQueue[Worker]]:
    free: SimpleQueue[Worker] = SimpleQueue()
    for _ in range(number):
        free.put(Worker.start())
    try:
        yield free
    finally:
        while not free.empty():
            free.get().stop()


def _run(case: Case, place: Path, worker: Worker) -> Outcome:
    work, temporary = place / "work", place / "temporary"
    work.mkdir()
    temporary.mkdir()
    try:
        case.lay_out(work)
    except PermissionError:
        return Outcome(case, (), "", 0.0, skipped=True)
    (place / "stdin").write_bytes(case.stdin)
    order = {
        "line": case.line,
        "folder": str(work),
        "temporary": str(temporary),
        "stdin": str(place / "stdin"),
        "stdout": case.stdout or str(place / "stdout"),
        "stderr": str(place / "stderr"),
        "environment": dict(case.environment),
        "real": case.real,
        "file_limit": case.file_limit,
        "seconds": MOST_SECONDS if case.expected == REFUSED else MOST_SECONDS_IF_ACCEPTED,
    }
    before = snapshot(work)
    result = worker.run(order)
    after = snapshot(work)
    printed = b"" if case.stdout else (place / "stdout").read_bytes()
    said = (place / "stderr").read_bytes()
    faults = [*_of_the_process(result), *_of_the_words(case, result["code"], printed, said)]
    accepted = result["code"] == 0 and case.expected != REFUSED
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name) and not (accepted and name not in before):
            how = "new" if name not in before else "gone" if name not in after else "changed"
            faults.append(("written", f"{name!r} is {how}"))
    if any(temporary.iterdir()):
        faults.append(("written", "something is left in the folder for temporary files"))
    return Outcome(case, tuple(faults), said.decode(errors="replace"), result["seconds"])


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything in the folder: kind and mode; of files also size, time of writing, place on the disk and a hash."""
    found: dict[str, tuple[object, ...]] = {}
    for path in folder.rglob("*"):
        state = path.lstat()
        seen: tuple[object, ...] = (state.st_mode,)
        if stat.S_ISREG(state.st_mode):
            read = hashlib.sha256(path.read_bytes()).hexdigest() if os.access(path, os.R_OK) else ""
            seen += (state.st_size, state.st_mtime_ns, state.st_ino, read)
        elif stat.S_ISLNK(state.st_mode):
            seen += (str(path.readlink()),)
        found[str(path.relative_to(folder))] = seen
    return found


def _of_the_process(result: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if result["late"]:
        yield "time", f"not done after {result['seconds']:.0f} s"
    elif result["code"] < 0:
        yield "crash", f"ended by signal {-result['code']}"
    if result["bytes"] > MOST_BYTES:
        yield "memory", f"{result['bytes'] / 2**30:.1f} GiB"


def _of_the_words(case: Case, code: int, printed: bytes, said: bytes) -> Iterator[tuple[str, str]]:
    if code < 0:
        return
    if code == 0 and case.expected != REFUSED:
        if b"Warning" in said or b"Traceback" in said:
            yield "words", f"accepted, but said {_short(said)}"
        return
    if b"Traceback" in said:
        yield "traceback", _short(said.strip().splitlines()[-1])
    if code != case.code or case.expected == ACCEPTED:
        yield "exit code", f"{code}; it said {_short(said or printed)}"
    if code == case.code and b"Traceback" not in said:
        yield from _of_the_sentence(said)
    if code == 2 and printed and not case.prints:
        yield "printed", f"on standard output: {_short(printed)}"


def _of_the_sentence(said: bytes) -> Iterator[tuple[str, str]]:
    try:
        text = said.decode()
    except UnicodeDecodeError:
        yield "sentence", f"not UTF-8: {_short(said)}"
        return
    inside = INSIDES.search(text)
    if text.count("\n") != 1 or not text.endswith("\n"):
        yield "sentence", f"{text.count(chr(10))} lines: {_short(said)}"
    elif not text.startswith("equivoc: "):
        yield "sentence", f"does not begin with the command's name: {_short(said)}"
    elif not text.rstrip().endswith((".", "?", "…", ".)")):
        yield "sentence", f"has no full stop: {_short(said)}"
    elif len(text) > LONGEST_SENTENCE:
        yield "sentence", f"{len(text):,} characters: {_short(said)}"
    elif not text.rstrip("\n").isprintable():
        yield "sentence", f"holds control characters: {_short(said)}"
    elif inside:
        yield "sentence", f"says {inside.group()!r}: {_short(said)}"


def _short(said: bytes) -> str:
    text = ascii(said.decode(errors="replace"))
    return text if len(text) < 260 else f"{text[:200]} … {text[-50:]}"
