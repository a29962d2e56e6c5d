"""SIGTERM, as schedulers and ``timeout`` send it: nothing temporary stays, and the process ends by the signal."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import run_command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
ROLES = ["--confidential", "pay", "--keys", "age,sex"]
ROWS = 4000
SLOW = ["--technique", "noise-addition:percent=20"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    chance, home = random.Random(5), tmp_path / "home"
    home.mkdir()
    (tmp_path / "system").mkdir()
    rows = [
        f"{chance.randrange(18, 90)},{chance.choice('FM')},{chance.randrange(900) * 10}" for _ in range(ROWS)
    ]
    (home / "people.csv").write_text("\n".join(["age,sex,pay", *rows]) + "\n")
    return home


def start(folder: Path, *words: str, ignored: int | None = None) -> subprocess.Popen[str]:
    """The command, with a folder of its own for the system's temporary files."""

    def prepare() -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)

    return subprocess.Popen(
        [sys.executable, "-m", "equivoc", *words],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder.parent / "system")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )


def wait_until(true: Callable[[], object], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 300
    while not true() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    assert process.poll() is None


def left(folder: Path) -> set[str]:
    return {path.name for path in (*folder.iterdir(), *(folder.parent / "system").iterdir())}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_protect_leaves_no_record_behind(folder: Path, number: signal.Signals) -> None:
    (folder / "p.csv").write_text("before")
    before = left(folder)
    process = start(folder, "protect", "people.csv", *ROLES, *SLOW, "--out", "p.csv")
    wait_until(lambda: any(path.stat().st_size for path in folder.glob(".equivoc-*.csv")), process)
    process.send_signal(number)
    _, told = process.communicate(timeout=120)
    assert process.returncode == -number
    assert "Traceback" not in told
    assert left(folder) == before
    assert (folder / "p.csv").read_text() == "before"


def test_a_signal_that_is_ignored_stays_ignored(folder: Path) -> None:
    """As with nohup."""
    process = start(folder, "measures", "people.csv", *ROLES, ignored=signal.SIGHUP)
    time.sleep(1)
    process.send_signal(signal.SIGHUP)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told


def test_verify_writes_nothing(folder: Path) -> None:
    """Not even while it runs."""
    made = run_command(
        folder,
        ["protect", "people.csv", *ROLES, *SLOW, "--intruder", "informed", "--seed", "7", "--out", "p.csv"],
    )
    assert made.returncode == 0, made.stderr
    before = left(folder)
    process = start(folder, "verify", "p.certificate.json", "people.csv", "p.csv", "--seed", "7")
    while process.poll() is None:
        assert left(folder) == before
        time.sleep(0.001)
    out, told = process.communicate()
    assert process.returncode == 0, told
    assert "The file is what noise-addition:percent=20 with this seed makes of these people." in out


def test_compare_says_how_to_continue_and_the_next_run_removes_what_sigkill_left(folder: Path) -> None:
    (folder / "out").mkdir()
    words = [
        "compare",
        "people.csv",
        *ROLES,
        "--technique",
        "sampling:fraction=0.1|0.2",
        "--intruder",
        "informed",
    ]
    words += ["--workers", "1", "--out", "out", "--replicates"]
    process = start(folder, *words, "5000")
    wait_until((folder / "out" / "comparison.sqlite-wal").exists, process)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGTERM)  # as schedulers do: everyone in the group gets it
    _, told = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGTERM
    assert "cells done; they are kept in out. Run the same comparison again to continue." in told
    assert [path.name for path in (folder / "out").iterdir()] == ["comparison.sqlite"]
    # What a run that was killed while it drew the map leaves: nobody holds its lock.
    killed = folder / "out" / ".equivoc-4194303-0123456789abcdef.png"
    killed.write_bytes(b"\x89PNG")
    done = run_command(folder, [*words, "1"])
    assert done.returncode == 0, done.stderr
    assert not killed.exists()
    assert not list((folder / "out").glob(".equivoc-*"))
