"""The page's server: the first figure of a large file, moves of ε and of keys, memory during a large upload.

    .venv/bin/python benchmarks/page.py                 # all of it; --only first | moves | upload
    .venv/bin/python benchmarks/page.py --upload 0.1    # a smaller upload, in GiB

The first figure is compared with `equivoc assess` of the same file, without the start of its process. Moves are timed
from the request to the complete answer. Exits 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from equivoc.datasets.shipped import path as shipped_path
from tests.web.page_server import PageServer

KEYS = ["age", "sex", "education", "major_industry", "major_occupation", "weeks_worked"]
ROLES = {"confidential": "wage_per_hour", "kind": {"kind": "number", "round_to": 100}, "keys": KEYS}
TECHNIQUES = ("unprotected", "swapping:rate=0.3", "noise-addition:percent=20", "sampling:fraction=0.1")
FIRST, MOVE_MS, TOGGLE_MS, UPLOAD_MIB = 3.0, 100.0, 500.0, 200.0
"""The bars."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("first", "moves", "upload"))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--upload", type=float, default=1.0, help="GiB")
    given = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], Iterator[tuple[str, float, float, str]]]] = {
            "first": lambda: first_figure(folder, given.rows),
            "moves": lambda: moves(folder),
            "upload": lambda: upload(folder, given.upload),
        }
        print(f"{'what':66} {'measured':>10} {'bar':>8}")
        for part, measure in parts.items():
            if given.only in (None, part):
                for what, value, bar, unit in measure():
                    missed += value > bar
                    print(
                        f"{what:66} {value:9.2f}{unit:3} {bar:6g}{unit}{'' if value <= bar else '  missed'}",
                        flush=True,
                    )
    sys.exit(bool(missed))


@contextmanager
def server(folder: Path) -> Iterator[tuple[PageServer, httpx.Client]]:
    """A warm server: it has answered once."""
    running = PageServer.start(folder / "page")
    try:
        with running.client() as http:
            http.timeout = httpx.Timeout(600)
            opened(http, shipped_path("cps_hourly_workers").read_bytes())
            http.post("/api/live/assess", json={"technique": "unprotected", "eps": 500})
            yield running, http
    finally:
        running.stop()


def opened(http: httpx.Client, content: Any) -> None:
    sent = http.post("/api/upload", params={"name": "people.csv"}, content=content)
    assert sent.status_code == 200, sent.text
    given = http.put("/api/roles", json=ROLES)
    assert given.status_code == 200, given.text


def first_figure(folder: Path, rows: int) -> Iterator[tuple[str, float, float, str]]:
    """From the end of the upload to the first assessment on the page, against the command."""
    file = folder / "large.csv"
    head, *lines = shipped_path("cps_hourly_workers").read_text(encoding="utf-8").splitlines()
    with file.open("w", encoding="utf-8") as written:
        written.write(head + "\n")
        for at in range(
            rows
        ):  # the same people again and again would have few classes: ages and weeks are moved
            fields = lines[at % len(lines)].split(",")
            fields[0] = str(16 + (int(fields[0]) + at // len(lines)) % 70)
            fields[10] = str((int(fields[10]) + at // len(lines) * 3) % 53)
            written.write(",".join(fields) + "\n")
    with server(folder) as (_, http):
        times = []
        for _ in range(3):
            http.delete("/api/file")
            ended = [0.0]

            def pieces(ended: list[float] = ended) -> Iterator[bytes]:
                with file.open("rb") as content:
                    while piece := content.read(1 << 20):
                        yield piece
                ended[0] = time.perf_counter()

            opened(http, pieces())
            told = http.post("/api/live/assess", json={"technique": "unprotected", "eps": 500})
            assert told.status_code == 200, told.text
            times.append(time.perf_counter() - ended[0])
    page = statistics.median(times)
    words = [
        "assess",
        str(file),
        "--confidential",
        "wage_per_hour",
        "--keys",
        ",".join(KEYS),
        "--round-to",
        "100",
    ]
    for intruder in ("strongest", "informed"):
        command = statistics.median(
            command_seconds([*words, "--eps", "0,500", "--intruder", intruder]) for _ in range(3)
        )
        what = f"first figure of {rows:,} rows: {page:.2f} s, equivoc assess ({intruder}) {command:.2f} s"
        yield what, page / command, FIRST, " ×"


def command_seconds(words: list[str]) -> float:
    """What a command takes after its start: a run with the shipped people before it loads libraries and kernels."""
    program = (
        "import sys, time, io, contextlib\nfrom typer.testing import CliRunner\nfrom equivoc.cli.app import app\n"
        f"small = {[*words[:1], str(shipped_path('cps_hourly_workers')), *words[2:]]!r}\n"
        "assert CliRunner().invoke(app, small).exit_code == 0\n"
        f"begin = time.perf_counter()\nassert CliRunner().invoke(app, {words!r}).exit_code == 0\n"
        "print(time.perf_counter() - begin)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def moves(folder: Path) -> Iterator[tuple[str, float, float, str]]:
    """Moves of ε (explore), and toggled keys (assess and explore with the curve), on the shipped 2,500 people."""
    with server(folder) as (_, http):
        for technique in TECHNIQUES:
            for known in (KEYS[:2], KEYS):
                asked = {"technique": technique, "known": known, "curve": True, "class": None}
                http.post("/api/live/explore", json={**asked, "eps": 500})
                times = [timed(http, "/api/live/explore", {**asked, "eps": 10.0 * at}) for at in range(3, 43)]
                yield (
                    f"move of ε, {technique}, {len(known)} keys known",
                    statistics.median(times),
                    MOVE_MS,
                    "ms",
                )
            toggled = []
            for at in range(6):
                for gone in KEYS:
                    known = [key for key in KEYS[: 3 + at % 4] if key != gone]
                    asked = {"technique": technique, "known": known, "eps": 500.0, "seed": 100 + at}
                    begin = time.perf_counter()
                    timed(http, "/api/live/assess", asked)
                    timed(http, "/api/live/explore", {**asked, "curve": True, "class": None})
                    toggled.append(1000 * (time.perf_counter() - begin))
            yield (
                f"a key toggled (figures and curve), {technique}",
                statistics.median(toggled),
                TOGGLE_MS,
                "ms",
            )


def timed(http: httpx.Client, path: str, body: dict[str, Any]) -> float:
    begin = time.perf_counter()
    answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return 1000 * (time.perf_counter() - begin)


def upload(folder: Path, size: float) -> Iterator[tuple[str, float, float, str]]:
    """How much the server's memory grows while a large file arrives."""
    with server(folder) as (running, http):
        before = resident(running.process.pid)
        row = ",".join(["12345"] * 20) + "\n"
        piece, many = (row * 8192).encode(), int(size * 2**30) // len(row * 8192)
        most = [before]

        def pieces() -> Iterator[bytes]:
            yield (",".join(f"c{place}" for place in range(20)) + "\n").encode()
            for _ in range(many):
                most[0] = max(most[0], resident(running.process.pid))
                yield piece

        begin = time.perf_counter()
        sent = http.post("/api/upload", params={"name": "large.csv"}, content=pieces())
        assert sent.status_code == 200, sent.text
        most[0] = max(most[0], resident(running.process.pid))
        seconds = time.perf_counter() - begin
        what = f"growth of the server's memory, upload of {size:g} GiB in {seconds:.0f} s with preview"
        yield what, most[0] - before, UPLOAD_MIB, "MiB"


def resident(process: int) -> float:
    """The memory of a process in MiB, without its children."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


if __name__ == "__main__":
    main()
