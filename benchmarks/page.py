"""The page's server: the first figure of a large file, moves of ε and of keys, memory during a large upload.

    .venv/bin/python benchmarks/page.py                 # all of it; --only first | moves | upload
    .venv/bin/python benchmarks/page.py --upload 0.1    # a smaller upload, in GiB

The first figure is compared with `equivoc assess` of the same file, without the start of its process. Moves are timed
in chromium, from the reader's act until the screen has changed. Exits 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from equivoc.datasets.shipped import path as shipped_path
from tests.browser import Visit, chromium
from tests.web import page_walk as walk
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
        print(f"{'what':82} {'measured':>10} {'bar':>8}")
        for part, measure in parts.items():
            if given.only in (None, part):
                for what, value, bar, unit in measure():
                    missed += value > bar
                    limit = f"{bar:6g}{unit}" if bar < math.inf else "    no bar"
                    print(
                        f"{what:82} {value:9.2f}{unit:3} {limit}{'' if value <= bar else '  missed'}",
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
    """Moves of ε and toggled keys on the shipped 2,500 people, from the reader's act until the screen has changed."""
    with server(folder) as (running, http), chromium() as browser:
        visit = Visit(browser, running.address, viewport={"width": 1280, "height": 900})
        page = visit.page
        for technique in TECHNIQUES:
            view = {"technique": technique, "known": KEYS, "eps": 500}
            assert http.patch("/api/state", json={"view": view}).status_code == 200
            walk.show(page, "explore")
            page.wait_for_selector(f'text="Verdict on {names(technique)}"')
            page.evaluate(CHANGED, {"selector": None, "keys": KEYS, "eps": 500})
            moved = [
                page.evaluate(CHANGED, {"selector": "eps", "value": eps, "keys": KEYS, "eps": eps})
                for eps in range(300, 900, 20)
            ]
            yield (
                f"move of ε until the screen has changed, {technique}",
                statistics.median(moved),
                MOVE_MS,
                "ms",
            )
            known, toggled = list(KEYS), []
            for step in range(
                1, 33
            ):  # as a Gray code: no set of keys comes twice, so no answer is remembered
                key = KEYS[(step & -step).bit_length() - 1]
                known = [each for each in KEYS if (each in known) != (each == key)]
                asked = {"selector": f"known-{key}", "keys": known, "eps": 880}
                toggled.append(page.evaluate(CHANGED, asked))
            what = f"a key toggled until curve and verdict have changed, {technique}"
            yield what, statistics.median(toggled), TOGGLE_MS, "ms"
        visit.close()
        for said in visit.said:
            print(f"the page said: {said}")


def names(technique: str) -> str:
    return "the file as it is" if technique == "unprotected" else technique


CHANGED = """async ({ selector, value, keys, eps }) => {
  const control = selector && document.querySelector(`[data-name="${selector}"]`);
  const frame = () => new Promise(requestAnimationFrame);
  const text = (where) => document.querySelector(where)?.textContent ?? "";
  const begin = performance.now();
  if (control?.type === "range") {
    control.value = value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  } else control?.click();
  const listed = keys.length > 1 ? `${keys.slice(0, -1).join(", ")} and ${keys.at(-1)}` : keys.join("");
  const story = keys.length ? `whose ${listed} she knows` : "about whom she knows nothing";
  const done = () => {
    const label = document.querySelector(".drawing svg")?.getAttribute("aria-label") ?? "";
    const who = text('.card p[role="status"] strong');
    if (!label.includes(`At ε = ${eps}:`)) return false;
    if (control?.type === "range") return true;
    return keys.every((key) => who.includes(key)) && (keys.length || who === "everybody")
      && (who.match(/, | and /g) ?? []).length >= keys.length - 1 && text(".did").includes(story)
      && !document.querySelector(".busy");
  };
  while (!done()) {
    if (performance.now() - begin > 30000) throw new Error(`not shown: ${story}, ε = ${eps}`);
    await frame();
  }
  await frame();
  return performance.now() - begin;
}"""
"""Moves the slider or clicks the key, and waits until what is drawn is for the new tolerance and the new keys."""


def upload(folder: Path, size: float) -> Iterator[tuple[str, float, float, str]]:
    """How much the memory of the server, and of the server with its processes, grows while a large file arrives."""
    with server(folder) as (running, http):
        before = [running.memory(children=children) for children in (False, True)]
        most = list(before)
        row = ",".join(["12345"] * 20) + "\n"
        piece, many = (row * 8192).encode(), int(size * 2**30) // len(row * 8192)
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.05):
                for place, children in enumerate((False, True)):
                    most[place] = max(most[place], running.memory(children=children))

        def pieces() -> Iterator[bytes]:
            yield (",".join(f"c{place}" for place in range(20)) + "\n").encode()
            for _ in range(many):
                yield piece

        watching = threading.Thread(target=watch)
        watching.start()
        begin = time.perf_counter()
        sent = http.post("/api/upload", params={"name": "large.csv"}, content=pieces())
        seconds = time.perf_counter() - begin
        over.set()
        watching.join()
        assert sent.status_code == 200, sent.text
        grown = [now - then for now, then in zip(most, before, strict=True)]
        what = f"growth of the server's memory, upload of {size:g} GiB with preview in {seconds:.0f} s"
        yield what, grown[0], UPLOAD_MIB, "MiB"
        yield "the same with the processes of the server, which preview the file", grown[1], math.inf, "MiB"


if __name__ == "__main__":
    main()
