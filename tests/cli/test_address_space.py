"""Under a limit on virtual memory every command ends, in a result or in one sentence."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from equivoc.cli.process import want_of_memory
from tests.sweeps import sweep

PEOPLE = "age,sex,pay\n" + "".join(f"{20 + i % 9},{'FM'[i % 2]},{10 * (1 + i * i % 7)}\n" for i in range(200))
OF_PEOPLE = ("people.csv", "--confidential", "pay", "--keys", "age,sex")
SECONDS = 300
"""Kernels may have to be compiled; without the limit's handling, some of these never ended."""


def run(folder: Path, megabytes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The command with a limit of so many million bytes of addresses."""
    (folder / "people.csv").write_text(PEOPLE)
    most = megabytes * 10**6
    return subprocess.run(
        [sys.executable, "-m", "equivoc", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )


def check_it_ended_well(ran: subprocess.CompletedProcess[str]) -> None:
    if ran.returncode == 0:
        assert ran.stderr == ""
        return
    assert ran.returncode == 2, (signal.Signals(-ran.returncode) if ran.returncode < 0 else ran, ran.stderr)
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert "virtual memory is limited to" in ran.stderr


@pytest.mark.parametrize("megabytes", sweep([300, 800, 1000, 1250, 1500, 3000], quick=[300, 1000, 1500]))
def test_assess_ends_in_a_result_or_a_sentence(tmp_path: Path, megabytes: int) -> None:
    ran = run(tmp_path, megabytes, "assess", *OF_PEOPLE, "--technique", "microaggregation:size=3")
    check_it_ended_well(ran)
    assert (megabytes > 1000) or "the libraries need at least" in ran.stderr
    assert ran.returncode == 2 or "bits" in ran.stdout


COMMANDS = [
    ("measures", *OF_PEOPLE),
    ("report", *OF_PEOPLE, "--out", "report.html"),
    ("protect", *OF_PEOPLE, "--technique", "swapping:rate=0.2", "--out", "p.csv"),
]


@pytest.mark.parametrize(
    "words",
    sweep(COMMANDS, quick=COMMANDS[1:2]),
    ids=lambda words: words[0],
)
def test_so_do_other_commands(tmp_path: Path, words: tuple[str, ...]) -> None:
    ran = run(tmp_path, 1500, *words)
    check_it_ended_well(ran)
    if ran.returncode:
        assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_what_needs_no_libraries_runs_in_little(tmp_path: Path) -> None:
    for words in (("--version",), ("curve", "--values", "1,3", "--probabilities", ".5,.5"), ("doctor",)):
        ran = run(tmp_path, 700, *words)
        assert ran.returncode == 0, ran.stderr


def test_errors_about_memory_whatever_their_type() -> None:
    loading = ImportError("libarrow.so.2600: failed to map segment from shared object")
    wrapped = ImportError("numpy cannot be imported")
    wrapped.__cause__ = loading
    for problem in (MemoryError(), loading, wrapped, OSError(12, "Cannot allocate memory"),
                    RuntimeError("can't start new thread")):  # fmt: skip
        told = want_of_memory(problem)
        assert told is not None
        assert "not enough memory" in told
    for problem in (ImportError("No module named 'fastapi'"), OSError(28, "No space left on device"),
                    RuntimeError("another"), KeyboardInterrupt()):  # fmt: skip
        assert want_of_memory(problem) is None
