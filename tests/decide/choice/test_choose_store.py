"""A choice with a store: what was measured is kept, and an interrupted search goes on from there."""

from __future__ import annotations

import csv
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments import compared
from equivoc.experiments.workers import Interrupted
from equivoc.render.comparison import choice_facts
from tests.commands import run_command, start_interruptible
from tests.decide.choice.test_choose import random_people

SWAPPING = "swapping:rate=0.05..1..0.05"
HOW: dict[str, Any] = {"require": ["h0 >= 3.3"], "intruder": "informed", "replicates": 2}


@pytest.fixture
def people() -> eq.Microdata:
    return random_people(1)


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The notation and the seed of every release that is measured."""
    made: list[tuple[str, int]] = []

    def noting(people: Any, technique: Any, *, seed: int, **how: Any) -> Any:
        made.append((technique.notation, seed))
        return eq.assess(people, technique, seed=seed, **how)

    monkeypatch.setattr(compared, "assess", noting)
    return made


def facts(choice: Any) -> Any:
    return [
        (trial.technique, trial.value, [each.facts for each in trial.outcomes]) for trial in choice.trials
    ]


def test_the_answer_is_the_same_and_nothing_is_measured_twice(
    people: eq.Microdata, tmp_path: Path, releases: list[tuple[str, int]]
) -> None:
    plain = eq.choose(people, SWAPPING, **HOW)
    once = list(releases)
    kept = eq.choose(people, SWAPPING, store=tmp_path / "s", **HOW)
    assert releases == once + once
    again = eq.choose(people, SWAPPING, store=tmp_path / "s", **HOW)
    assert releases == once + once
    assert facts(plain) == facts(kept) == facts(again)
    assert (plain.sentence, plain.technique) == (again.sentence, again.technique)


def test_an_interrupted_search_goes_on_from_there(
    people: eq.Microdata, tmp_path: Path, releases: list[tuple[str, int]]
) -> None:
    plain = eq.choose(people, SWAPPING, **HOW)
    once = list(releases)
    releases.clear()

    def stop_after(number: int) -> Callable[[str], None]:
        def tell(line: str) -> None:
            if len(releases) == 2 * number:
                raise KeyboardInterrupt

        return tell

    with pytest.raises(Interrupted) as stopped:
        eq.choose(people, SWAPPING, store=tmp_path / "s", progress=stop_after(3), **HOW)
    assert str(stopped.value) == (
        f"stopped with 6 cells done; they are kept in {tmp_path / 's'}. Run the same choice again to continue."
    )
    assert facts(eq.choose(people, SWAPPING, store=tmp_path / "s", **HOW)) == facts(plain)
    assert releases == once


def test_other_limits_more_replicates_and_other_ranges_measure_only_what_is_new(
    people: eq.Microdata, tmp_path: Path, releases: list[tuple[str, int]]
) -> None:
    store = tmp_path / "s"
    eq.choose(people, SWAPPING, store=store, **HOW)
    there = set(releases)
    for how in (
        {"require": ["h0 >= 3"]},
        {"replicates": 4},
        {"technique": "swapping:rate=0.1..0.9..0.1"},
    ):
        releases.clear()
        asked = {"technique": SWAPPING, **HOW, **how}
        kept = eq.choose(people, store=store, **asked)
        new = list(releases)
        assert not there & set(new)
        there |= set(new)
        assert facts(kept) == facts(eq.choose(people, **asked))
    releases.clear()
    eq.choose(
        people, SWAPPING, store=store, **{**HOW, "require": ["gain <= 1"]}
    )  # a figure that is not there
    assert set(releases) & there


def test_several_techniques_share_a_store(
    people: eq.Microdata, tmp_path: Path, releases: list[tuple[str, int]]
) -> None:
    both = ["noise-addition:percent=1..60", SWAPPING]
    plain = eq.choose_among(people, both, **HOW)
    releases.clear()
    eq.choose_among(people, both, store=tmp_path, **HOW)
    releases.clear()
    again = eq.choose_among(people, both, store=tmp_path, **HOW)
    assert not releases
    assert choice_facts(again) == choice_facts(plain)
    assert len(again.tried) == again.assessments


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"seed": 1}, "its seed is 0, not 1"),
        ({"intruder": "strongest"}, "its intruder is informed, not strongest"),
        ({"prior": "uniform"}, "its prior is marginal, not uniform"),
        ({"known": []}, "its intruder knows"),
        ({"eps": [0, 3]}, "its tolerance of hits is"),
    ],
)
def test_another_question_is_refused(
    people: eq.Microdata, tmp_path: Path, how: dict[str, Any], said: str
) -> None:
    eq.choose(people, SWAPPING, store=tmp_path, **HOW)
    with pytest.raises(eq.InputError, match=f"the choice folder .* belongs to another choice: .*{said}"):
        eq.choose(people, SWAPPING, store=tmp_path, **{**HOW, **how})


def test_other_people_a_prior_of_numbers_and_tables_are_refused(people: eq.Microdata, tmp_path: Path) -> None:
    eq.choose(people, SWAPPING, store=tmp_path, **HOW)
    reverse = eq.Microdata(
        pd.DataFrame(
            {name: people.decode(name, people.key_codes(name)).to_pylist() for name in people.keys}
            | {"pay": people.values[people.codes][::-1]}
        ),
        confidential="pay",
        keys=people.keys,
        domain=range(10, 310, 10),
    )
    with pytest.raises(eq.InputError, match="its data have other values"):
        eq.choose(reverse, SWAPPING, store=tmp_path, **HOW)
    numbers = [1 / len(people.values)] * len(people.values)
    with pytest.raises(eq.InputError, match='"marginal" or "uniform": leave the store out'):
        eq.choose(people, SWAPPING, store=tmp_path / "new", prior=numbers, **HOW)
    assert not (tmp_path / "new").exists()
    table = eq.tabulate(people, by=[people.keys[0]])
    with pytest.raises(eq.InputError, match="and store do not apply to a table"):
        eq.choose(table, eq.CellRounding, low=5, high=10, require=["k >= 1"], store=tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"age": 20 + at % 7, "sex": "FM"[at % 2], "pay": 10 * (at * at % 11)} for at in range(60)]
    pd.DataFrame(rows).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


WORDS = ["choose", "people.csv", "--confidential", "pay", "--keys", "age,sex", "--require", "h0 >= 2.3"]
WORDS += ["--technique", SWAPPING, "--intruder", "informed"]


def test_the_command_keeps_what_it_tried(folder: Path) -> None:
    plain, kept, again = (
        run_command(folder, [*WORDS, *more]) for more in ([], ["--out", "out"], ["--out", "out"])
    )
    assert plain.returncode == 0, plain.stderr
    assert (plain.stdout, plain.stderr) == (kept.stdout, kept.stderr) == (again.stdout, again.stderr)
    with (folder / "out" / "tried.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["technique"].partition(":")[0] for row in rows} == {"swapping"}
    assert {row["meets"] for row in rows} == {"True", "False"}
    assert len(rows) == _cells(folder / "out")
    assert all(float(row["h0 >= 2.3"]) >= 0 for row in rows)
    with sqlite3.connect(folder / "out" / "choice.sqlite") as connection:
        connection.execute("UPDATE results SET figures = replace(figures, '1', '2')")
    connection.close()
    damaged = run_command(folder, [*WORDS, "--out", "out"])
    assert (damaged.returncode, damaged.stdout) == (2, "")
    assert "choice.sqlite is damaged" in damaged.stderr
    over = run_command(folder, [*WORDS, "--out", "people.csv"])
    assert (over.returncode, len(over.stderr.strip().splitlines())) == (2, 1)


def test_ctrl_c_names_the_command_that_goes_on(folder: Path) -> None:
    words = [*WORDS, "--out", "out", "--replicates", "300"]
    started = start_interruptible([sys.executable, "-m", "equivoc", *words], cwd=folder)
    end = time.monotonic() + 120
    while _cells(folder / "out") < 3 and started.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=120)
    assert started.returncode == 130, said
    last = said.strip().splitlines()[-1]
    assert "cells done; they are kept in out. Run the same choice again to continue." in last
    assert f"To continue: equivoc {WORDS[0]} people.csv" in last
    assert _cells(folder / "out") >= 3


def _cells(out: Path) -> int:
    try:
        with sqlite3.connect(f"file:{out / 'choice.sqlite'}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.Error:
        return 0
    finally:
        if "connection" in locals():
            connection.close()
