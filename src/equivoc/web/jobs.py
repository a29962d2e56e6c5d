"""The jobs of the page: one runs at a time, others wait; they can be cancelled, and go on after a restart."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import secrets
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import quote

from equivoc.errors import InputError
from equivoc.web.people_spec import PeopleSpec
from equivoc.web.state import State
from equivoc.web.warm_process import NICE

# The process of a job: it computes, writes its result and files, and ends with the server.

KINDS = ("compare", "choose", "protect", "report", "audit", "table")
RESULT = "result.json"


def run_job(
    kind: str, spec: PeopleSpec, given: Mapping[str, Any], folder: str, pipe: Connection, lifeline: Connection
) -> None:
    """Compute the job and send ("progress", …) while it runs, then ("done" | "mistake" | "failure", …)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    os.nice(NICE)
    os.setsid()  # a cancelled job takes its own workers with it
    threading.Thread(target=_leave_with_server, args=(lifeline,), daemon=True).start()
    from equivoc.files import new_folder, replacing
    from equivoc.web.work import JOBS, Work

    home = Path(folder)

    def tell(done: int, total: int, text: str) -> None:
        pipe.send(("progress", (done, total, text)))

    try:
        new_folder(home / "files", private=True)
        result = JOBS[kind](Work(spec, given, home, tell))
        with replacing(home / RESULT, private=True) as temporary:
            temporary.write_text(json.dumps(result, allow_nan=False), encoding="utf-8")
        pipe.send(("done", None))
    except InputError as mistake:
        pipe.send(
            ("mistake", spec.renamed(str(mistake)).replace(f"{home}/files/", "").replace(str(home), ""))
        )
    except MemoryError:
        pipe.send(("mistake", "there is not enough memory for this; use fewer keys or fewer values."))
    except Exception as problem:  # its message could hold a value of a person
        place = traceback.extract_tb(problem.__traceback__)[-1]
        print(f"equivoc: {type(problem).__name__} in {place.name}, line {place.lineno}", file=sys.stderr)
        pipe.send(("failure", None))


def _leave_with_server(lifeline: Connection) -> None:
    """Nothing is sent; reading ends when the server dies."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)


MOST_JOBS = 200
OPEN = ("waiting", "running")
TITLES = {
    "compare": "Comparison",
    "choose": "Search for a setting",
    "protect": "Protected file",
    "report": "Report",
    "audit": "Audit of queries",
    "table": "Table",
    "strongest": "Strongest intruder",
}


class Running:
    """A job's process, and when it began."""

    def __init__(self, process: Any, lifeline: Any) -> None:
        self.process, self.lifeline = process, lifeline
        self.begin = monotonic()

    def end(self) -> None:
        """End the process and its workers at once."""
        for kill in (lambda: os.killpg(self.process.pid, signal.SIGKILL), self.process.kill):
            try:
                kill()
            except (ProcessLookupError, PermissionError):
                continue
        self.process.join()
        self.lifeline.close()


class Jobs:
    """The jobs in the state, and the one that runs."""

    def __init__(self, state: State, people: Callable[[], PeopleSpec | None]) -> None:
        self.state, self.people = state, people
        self._running: dict[str, Running] = {}
        self._start = multiprocessing.get_context("spawn")

    def begin(self) -> None:
        """After a start of the server: what was interrupted is waiting again; half strongest ones are gone."""

        def again(content: dict[str, Any]) -> None:
            content["jobs"] = [
                job for job in content["jobs"] if job["kind"] != "strongest" or job["status"] == "done"
            ]
            for job in content["jobs"]:
                if job["status"] in (*OPEN, "interrupted"):
                    job |= {"status": "waiting", "text": "goes on after the server was started again"}

        self.state.change(again)
        self._next()

    def add(self, given: Mapping[str, Any]) -> str:
        """A new job; its number."""
        kind = given.get("kind")
        if kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}.")
        if self.people() is None:
            raise InputError("there are no people yet: open a file and choose the roles of its columns.")
        if len(self.state.content["jobs"]) >= MOST_JOBS:
            raise InputError(f"there are {MOST_JOBS} jobs: delete some first.")
        request = {key: value for key, value in given.items() if key != "kind"}
        roles = self.state.content["roles"]
        if roles["also"] and kind != "protect":  # a file has all attributes, a figure is about one
            request["attribute"] = roles["confidential"]
        name = self.entry(str(kind), request)
        self._next()
        return name

    def entry(self, kind: str, given: Mapping[str, Any], *, status: str = "waiting", text: str = "") -> str:
        """A job in the state."""
        name = secrets.token_hex(8)
        (self.state.folder / "jobs" / name).mkdir(mode=0o700)
        job = {
            "id": name,
            "kind": kind,
            "title": TITLES[kind],
            "status": status,
            "done": 0,
            "total": 0,
            "text": text,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": 0.0,
            "result": None,
            "files": [],
            "request": dict(given),
        }
        self.state.change(lambda content: content["jobs"].append(job))
        return name

    def found(self, name: str) -> dict[str, Any]:
        """The job of this number; InputError if there is none."""
        job: dict[str, Any] | None = next(
            (job for job in self.state.content["jobs"] if job["id"] == name), None
        )
        if job is None:
            raise InputError("there is no such job.")
        return job

    def folder(self, name: str) -> Path:
        """The folder of a job that exists."""
        return self.state.folder / "jobs" / str(self.found(name)["id"])

    def result(self, name: str) -> bytes:
        """The result's JSON."""
        if self.found(name)["result"] is None:
            raise InputError("this job has no result yet.")
        return (self.folder(name) / RESULT).read_bytes()

    def file(self, name: str, file: str) -> Path:
        """A file of the job's own list."""
        if file not in [each["name"] for each in self.found(name)["files"]]:
            raise InputError("this job has no such file.")
        return self.folder(name) / "files" / file

    def cancel(self, name: str) -> None:
        """Stop a job that waits or runs."""
        job = self.found(name)
        if job["status"] in OPEN:
            self._stop(name)
            self.update(name, status="cancelled", text="cancelled")
        self._next()

    def resume(self, name: str) -> None:
        """Let a job that was cancelled or interrupted, or has failed, go on."""
        if self.found(name)["status"] in ("interrupted", "cancelled", "failed"):
            self.update(name, status="waiting", text="")
        self._next()

    def delete(self, name: str) -> None:
        """Remove a job and its files."""
        folder = self.folder(name)
        self._stop(name)
        shutil.rmtree(folder, ignore_errors=True)

        def remove(content: dict[str, Any]) -> None:
            content["jobs"] = [job for job in content["jobs"] if job["id"] != name]

        self.state.change(remove)
        self._next()

    def clear(self) -> None:
        """Remove all jobs, because the people have changed."""
        for job in list(self.state.content["jobs"]):
            self.delete(job["id"])

    def update(self, name: str, **parts: Any) -> None:
        """Change a job in the state."""
        self.state.change(lambda content: self.found(name).update(parts))

    def end(self) -> None:
        """The server stops: processes end, their jobs go on at the next start."""
        for name in list(self._running):
            self._stop(name)
            self.update(name, status="interrupted", text="interrupted")

    def finish(self, name: str, *, seconds: float) -> None:
        """The job is done; its result and files are on disk."""
        home = self.folder(name)
        files = sorted((home / "files").iterdir()) if (home / "files").is_dir() else []
        self.update(
            name,
            status="done",
            text="done",
            seconds=round(seconds, 3),
            result=f"/api/jobs/{name}/result",
            files=[
                {
                    "name": each.name,
                    "href": f"/api/jobs/{name}/files/{quote(each.name)}",
                    "bytes": each.stat().st_size,
                }
                for each in files
                if not each.name.startswith(".")
            ],
        )

    def _stop(self, name: str) -> None:
        running = self._running.pop(name, None)
        if running is not None:
            running.end()

    def _next(self) -> None:
        """Start the first job that waits, if none runs."""
        spec = self.people()
        job = next((job for job in self.state.content["jobs"] if job["status"] == "waiting"), None)
        if job is None or self._running:
            return
        name = job["id"]
        if spec is None:
            self.update(name, status="failed", text="the people are gone.")
            return
        pipe, theirs = self._start.Pipe(duplex=False)
        lifeline, ours = self._start.Pipe(duplex=False)
        spec = spec.showing(job["request"].get("attribute"))  # the one of when it was asked for
        process = self._start.Process(
            target=run_job,
            args=(job["kind"], spec, job["request"], str(self.folder(name)), theirs, lifeline),
            name=f"equivoc-{job['kind']}",
        )
        process.start()
        theirs.close()
        lifeline.close()
        running = self._running[name] = Running(process, ours)
        self.update(name, status="running", text="starting")
        loop = asyncio.get_running_loop()
        Thread(target=self._listen, args=(name, running, pipe, loop), daemon=True).start()

    def _listen(self, name: str, running: Running, pipe: Any, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: pass on what the process tells."""
        ended = False
        while not ended:
            try:
                what, sent = pipe.recv()
            except (EOFError, OSError):
                what, sent = "gone", None
            ended = what != "progress"
            try:
                loop.call_soon_threadsafe(self._received, name, running, what, sent)
            except RuntimeError:  # the server has stopped
                return
        pipe.close()

    def _received(self, name: str, running: Running, what: str, sent: Any) -> None:
        if self._running.get(name) is not running:  # cancelled meanwhile
            return
        seconds = monotonic() - running.begin
        if what == "progress":
            done, total, text = sent
            self.found(name).update(done=done, total=total, text=text, seconds=round(seconds, 3))
            self.state.tick()
            return
        self._stop(name)
        if what == "done":
            self.finish(name, seconds=seconds)
        else:
            text = sent or (
                "the computation has failed; this is our fault."
                if what == "failure"
                else "the process has ended, perhaps for want of memory."
            )
            self.update(name, status="failed", text=text, seconds=round(seconds, 3))
        self._next()
