"""The command ``equivoc serve`` in a process of its own, and a client that has its cookie."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROLES: dict[str, Any] = {
    "confidential": "pay",
    "kind": {"kind": "number", "round_to": 10, "unit": "K"},
    "keys": ["age", "sex"],
}


def people_csv(rows: int = 60) -> str:
    """People with two keys and a pay; the same every time."""
    lines = ["age,sex,pay,note"]
    for number in range(rows):
        lines.append(
            f"{30 + number % 4},{'FM'[number * 7 % 3 % 2]},{10 * (1 + number * number % 7)},n{number}"
        )
    return "\n".join(lines) + "\n"


@dataclass
class PageServer:
    """The server, running."""

    process: subprocess.Popen[str]
    url: str
    cookie: str
    """Name and value, as a browser sends it: the printed address was exchanged for it."""
    folder: Path

    @staticmethod
    def start(folder: Path, *words: str, cwd: Path | None = None) -> PageServer:
        """On a free port, without a browser, with its files in ``folder``."""
        process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "error",
                "-m",
                "equivoc",
                "serve",
                "--no-browser",
                "--folder",
                str(folder),
                *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        )
        assert process.stdout is not None
        for line in process.stdout:
            if "http://" in line:
                address = "http://" + line.split("http://")[1].strip()
                cookie = exchanged(address)
                assert cookie is not None
                return PageServer(process, address.split("/?token=")[0], cookie, folder)
        raise RuntimeError(process.communicate()[1])

    @property
    def address(self) -> str:
        """A new address for a browser; it works once."""
        with self.client() as client:
            made = client.post("/api/entrance")
            assert made.status_code == 200, made.text
            return f"{self.url}{made.json()['path']}"

    def client(self, **headers: str) -> httpx.Client:
        """A client with the cookie and the header of the page."""
        own = {"Cookie": self.cookie, "X-Equivoc": "1", **headers}
        return httpx.Client(base_url=self.url, headers=own, timeout=120, trust_env=False)

    def memory(self, *, children: bool = True) -> float:
        """What the server holds in memory, in MiB, with the processes that it has started."""
        every = [self.process.pid, *(descendants(self.process.pid) if children else [])]
        return sum(_resident(each) for each in every)

    def kill(self) -> None:
        """SIGKILL: nothing can be put in order."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> tuple[int, str]:
        """SIGTERM; the exit code, and what was written on standard error."""
        self.process.terminate()
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


def exchanged(address: str) -> str | None:
    """The cookie for an address with a token; None if it does not work."""
    answer = httpx.get(address, timeout=120, trust_env=False)
    return answer.headers["set-cookie"].split(";")[0] if answer.status_code == 303 else None


def opened(
    http: httpx.Client, content: str | None = None, roles: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Upload people and give them their roles; the state."""
    sent = http.post("/api/upload", params={"name": "people.csv"}, content=(content or people_csv()).encode())
    assert sent.status_code == 200, sent.text
    given = http.put("/api/roles", json=roles or ROLES)
    assert given.status_code == 200, given.text
    state: dict[str, Any] = given.json()
    return state


def job_of(http: httpx.Client, name: str) -> dict[str, Any]:
    """A job in the state."""
    found: dict[str, Any] = next(job for job in http.get("/api/state").json()["jobs"] if job["id"] == name)
    return found


def wait_for(found: Callable[[], Any], seconds: float = 120) -> Any:
    """The first answer that is not false."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = found()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def finished(http: httpx.Client, name: str) -> dict[str, Any]:
    """The job when it no longer waits or runs."""

    def ended() -> dict[str, Any] | None:
        job = job_of(http, name)
        return None if job["status"] in ("waiting", "running") else job

    job: dict[str, Any] = wait_for(ended)
    return job


def result_of(http: httpx.Client, **request: Any) -> dict[str, Any]:
    """The result of a new job, which must succeed."""
    started = http.post("/api/jobs", json=request)
    assert started.status_code == 202, started.text
    name = started.json()["id"]
    job = finished(http, name)
    assert job["status"] == "done", job
    result: dict[str, Any] = http.get(job["result"]).json()
    return result


def descendants(process: int) -> list[int]:
    """The numbers of all processes below one."""
    parents = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parents[int(each.name)] = int((each / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
    found, waiting = [], [process]
    while waiting:
        above = waiting.pop()
        below = [child for child, parent in parents.items() if parent == above]
        found += below
        waiting += below
    return found


def _resident(process: int) -> float:
    """The memory of a process in MiB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
