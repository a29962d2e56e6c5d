"""Ctrl-C at any moment of any command: one sentence, exit code 130, nothing half-written."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.engines import csv_file, parquet
from tests.commands import run_command

PEOPLE = ["--confidential", "pay", "--keys", "age,sex"]
STOPPED = "equivoc: stopped.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    count = 300
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, count),
            "sex": rng.choice(["F", "M"], count),
            "pay": rng.integers(0, 500, count),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    return tmp_path


def press_ctrl_c(error: str | None = None):
    """A function that is interrupted, and then says so as DuckDB does, or lets Python say it."""

    def pressed(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if error is None:
                raise
            raise RuntimeError(error) from None

    return pressed


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
@pytest.mark.parametrize(
    "words",
    [
        ["assess", *PEOPLE],
        ["measures", *PEOPLE],
        ["report", *PEOPLE, "--out", "new.html"],
        ["protect", *PEOPLE, "--technique", "swapping:rate=0.2", "--out", "new.csv"],
        ["choose", *PEOPLE, "--technique", "swapping:rate=0.1..0.5", "--require", "gain <= 0.5"],
        ["table", "--by", "age", "--value", "pay", "--rule", "p:10", "--suppress", "--out", "new"],
        ["audit", *PEOPLE, "--queries", "queries.sql", "--out", "new"],
    ],
    ids=lambda words: words[0],
)
def test_a_query_that_is_interrupted_stops_the_command(folder: Path, file: str, words: list[str]) -> None:
    """DuckDB raised RuntimeError("Query interrupted"), which ended in a traceback."""
    (folder / "queries.sql").write_text("SELECT SUM(pay) FROM people;")
    before = set(folder.rglob("*"))
    interrupted = press_ctrl_c("Query interrupted")
    with patch.object(csv_file, "batches", interrupted), patch.object(parquet, "batches", interrupted):
        ran = run_command(folder, [words[0], file, *words[1:]])
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", STOPPED)
    assert set(folder.rglob("*")) == before


@pytest.mark.parametrize("error", [None, "initialization failed"])
def test_whatever_the_library_says(folder: Path, error: str | None) -> None:
    """An extension module that is being loaded says ImportError; the signal is what counts."""
    with patch("equivoc.assessment.assess.assess", press_ctrl_c(error)):
        ran = run_command(folder, ["assess", "people.csv", *PEOPLE])
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", STOPPED)


def test_the_same_error_without_ctrl_c_is_not_hidden(folder: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault")

    with patch("equivoc.assessment.assess.assess", broken), pytest.raises(RuntimeError, match="a fault"):
        run_command(folder, ["assess", "people.csv", *PEOPLE])


def test_a_real_query_of_a_relation_is_a_keyboard_interrupt() -> None:
    """Of which DuckDB makes a RuntimeError."""
    import duckdb

    endless = duckdb.sql("SELECT 1 AS age, count(*) AS pay FROM range(100000000) a, range(1000) b")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        eq.Microdata(endless, confidential="pay", keys=["age"])
    timer.join()


def test_while_the_commands_are_being_imported(folder: Path) -> None:
    """It was a traceback of Python's own."""
    with patch("equivoc.cli.main._command", press_ctrl_c()):
        ran = run_command(folder, ["assess", "people.csv", *PEOPLE])
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", STOPPED)
