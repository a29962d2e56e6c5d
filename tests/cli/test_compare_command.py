"""``equivoc compare``: options and plans, outputs, exit codes; an interrupted run is continued."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.techniques.notation import techniques_from
from tests.commands import Ran, run_command, start_interruptible

PLAN = """[data]
path = "people.csv"
confidential = "salary"
keys = ["age", "sex"]
round_to = 10

[[technique]]
name = "sampling"
fraction = [0.3, 0.6]

[[technique]]
name = "rounding"
base = 50

[compare]
known = ["age"]
replicates = 2
seed = 3
utility = "averages"

[require]
rules = ["true_hit(20) <= 0.9", "h0 >= 0.1"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(8)
    age = rng.integers(0, 5, 120)
    frame = pd.DataFrame(
        {
            "age": 20 + 10 * age,
            "sex": rng.choice(["F", "M"], 120),
            "salary": 10 * (1 + np.clip(rng.binomial(8, 0.4, 120) + age // 2, 0, 9)),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def run(folder: Path, *words: str) -> Ran:
    return run_command(folder, ["compare", *words, "--workers", "1"])


OPTIONS = ["people.csv", "--confidential", "salary", "--keys", "age,sex", "--round-to", "10"]
TECHNIQUES = ["--technique", "sampling:fraction=0.3|0.6", "--technique", "rounding:base=50"]


def expected(folder: Path, **options: object) -> eq.Comparison:
    people = eq.read(folder / "people.csv", confidential="salary", keys=["age", "sex"], round_to=10)
    techniques = [eq.Sampling(fraction=0.3), eq.Sampling(fraction=0.6), eq.Rounding(base=50)]
    return eq.compare(people, techniques, **options)


def test_options(folder: Path) -> None:
    ran = run(
        folder, *OPTIONS, *TECHNIQUES, "--known", "age", "--require", "true_hit(20) <= 0.9", "--out", "out"
    )
    assert ran.returncode == 0, ran.stderr
    done = expected(folder, known=["age"], require=["true_hit(20) <= 0.9"])
    assert done.headline in ran.stdout
    for reason in done.reasons.values():
        assert reason in ran.stdout
    out = folder / "out"
    assert {path.name for path in out.iterdir()} == {
        "comparison.csv", "why.csv", "map.png", "report.html", "comparison.sqlite",
    }  # fmt: skip
    written = pd.read_csv(out / "comparison.csv").assign(failed="")
    pd.testing.assert_frame_equal(written, done.frame, check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_csv(out / "why.csv"), done.why, check_dtype=False)
    assert (out / "map.png").read_bytes().startswith(b"\x89PNG")
    assert done.headline.split("(")[0].rstrip() in (out / "report.html").read_text(encoding="utf-8")
    for name in ("comparison.csv", "why.csv", "map.png", "report.html"):
        assert f"written: {Path('out', name)}" in ran.stdout


def test_a_plan_and_options_that_replace_its_entries(folder: Path) -> None:
    ran = run(folder, "plan.toml", "--json")
    assert ran.returncode == 0, ran.stderr
    done = expected(
        folder,
        known=["age"],
        replicates=2,
        seed=3,
        utility="averages",
        require=["true_hit(20) <= 0.9", "h0 >= 0.1"],
    )
    told = json.loads(ran.stdout)
    assert told.pop("files") == []
    assert told == done.facts()
    words = [
        "--replicates",
        "1",
        "--seed",
        "5",
        "--utility",
        "pmse",
        "--intruder",
        "paper",
        "--prior",
        "uniform",
    ]
    other = run(folder, "plan.toml", "--json", *words, "--known", "none", "--require", "h0 >= 0.2")
    assert other.returncode == 0, other.stderr
    instead = expected(
        folder, known=[], seed=5, utility="pmse", intruder="paper", prior="uniform", require=["h0 >= 0.2"]
    )
    told = json.loads(other.stdout)
    told.pop("files")
    assert told == instead.facts()


def test_the_exit_code_is_3_if_none_meets_the_requirements(folder: Path) -> None:
    for limit, code in (("0", 3), ("1", 0)):
        ran = run(
            folder, *OPTIONS, *TECHNIQUES, "--require", f"true_hit(20) <= {limit}", "--out", "page.html"
        )
        assert ran.returncode == code, ran.stderr
        assert ("None of 3 techniques meets every requirement." in ran.stdout) == (code == 3)
        assert "Why none" in (folder / "page.html").read_text() or code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["page.html", "people.csv", "plan.toml"]


def test_the_exit_code_flips_at_the_limit(folder: Path) -> None:
    value = expected(folder, require=["true_hit(20) <= 1"]).frame["risk"].min()
    for limit, code in ((value - 0.001, 3), (value + 0.001, 0)):
        ran = run(folder, *OPTIONS, *TECHNIQUES, "--require", f"true_hit(20) <= {limit:.6f}")
        assert ran.returncode == code, ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["people.csv", "--keys", "age"],
            "--confidential is missing: name the confidential column, or give a plan",
        ),
        ([*OPTIONS], "--technique is missing: name at least one technique"),
        ([*OPTIONS, "--technique", "samplin:fraction=1"], "did you mean 'sampling'"),
        ([*OPTIONS, "--technique", "sampling:fraction=0.1|"], "sampling"),
        ([*OPTIONS, "--technique", "rounding:base=50", "--technique", "rounding:base=50.0"], "twice"),
        ([*OPTIONS, *TECHNIQUES, "--require", "true_hits <= 1"], "character 1: .*did you mean 'true_hit'"),
        ([*OPTIONS, *TECHNIQUES, "--utility", "pms"], "did you mean 'pmse'"),
        ([*OPTIONS, *TECHNIQUES, "--intruder", "strong"], "--intruder strong: choose"),
        ([*OPTIONS, *TECHNIQUES, "--known", "shoe"], "shoe"),
        ([*OPTIONS, *TECHNIQUES, "--progress", "loud"], "progress"),
        ([*OPTIONS, *TECHNIQUES, "--out", "people.csv"], "people.csv is a file; give a folder"),
        (["plan.toml", "--keys", "age"], "--keys is given with the plan plan.toml"),
        (["plan.toml", "--technique", "unprotected"], "--technique is given with the plan"),
        (["plan.toml", "--drop-missing"], "--drop-missing is given with the plan"),
        (["none.toml"], "the plan none.toml cannot be read"),
        (["plan.toml", "--require", "h0 >= 2", "--require", "h0 <= 1"], "contradict each other"),
        (["plan.toml", "--out", "people.html/x"], "people.html/x/comparison.csv cannot be written"),
    ],
)
def test_mistakes_end_in_one_sentence(folder: Path, words: list[str], said: str) -> None:
    (folder / "people.html").write_text("")
    ran = run(folder, *words)
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert ran.stderr.startswith("equivoc: ")
    assert re.search(said, ran.stderr), ran.stderr


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('utility = "averages"', 'utility = "averges"', 19, "did you mean 'averages'"),
        ('known = ["age"]', 'known = ["aeg"]', 16, "aeg"),
        ("h0 >= 0.1", "h0 > 0.1", 22, "character 4"),
        ('rules = ["true_hit(20) <= 0.9", "h0 >= 0.1"]', "rules = [7]", 22, "7"),
        ('rules = ["true_hit(20) <= 0.9", "h0 >= 0.1"]', 'rule = "h0 >= 1"', 22, "did you mean 'rules'"),
        ("[compare]", "[compair]", 15, "did you mean 'compare'"),
        ("replicates = 2", "replicates = 0", 17, "replicates is 0"),
    ],
)
def test_mistakes_in_a_plan_name_the_line(folder: Path, old: str, new: str, line: int, said: str) -> None:
    plan = folder / "plan.toml"
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new))
    ran = run(folder, "plan.toml")
    assert ran.returncode == 2
    assert f"plan.toml, line {line}: " in ran.stderr, ran.stderr
    assert said in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_one_plan_serves_a_study_and_a_comparison(folder: Path) -> None:
    (folder / "plan.toml").write_text(
        PLAN.split("[require]")[0] + "\n[study]\nreplicates = 1\nknown_sizes = [0]\n"
    )
    assert run(folder, "plan.toml").returncode == 0
    ran = run_command(folder, ["study", "plan.toml", "--out", "s", "--workers", "1"])
    assert ran.returncode == 0, ran.stderr


def test_ctrl_c_keeps_what_is_done_and_the_same_command_continues(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN.replace("replicates = 2", "replicates = 200"))
    words = ["plan.toml", "--out", "out", "--replicates", "200"]
    command = [sys.executable, "-m", "equivoc", "compare", *words, "--workers", "1", "--progress", "plain"]
    started = start_interruptible(command, cwd=folder)
    end = time.monotonic() + 300
    while _cells(folder / "out") < 3 and started.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)
    _, told = started.communicate(timeout=120)
    assert started.returncode == 130, told
    assert "Traceback" not in told
    last = told.strip().splitlines()[-1]
    assert "cells done; they are kept in out. Run the same comparison again to continue." in last
    assert "To continue: equivoc compare plan.toml --out out --replicates 200" in last
    done = _cells(folder / "out")
    assert 3 <= done < 401
    few = run(folder, "plan.toml", "--out", "out", "--replicates", "2")
    fresh = run(folder, "plan.toml", "--out", "fresh", "--replicates", "2")
    assert (few.returncode, fresh.returncode) == (0, 0), few.stderr
    for name in ("comparison.csv", "why.csv", "report.html"):
        assert (folder / "out" / name).read_bytes() == (folder / "fresh" / name).read_bytes()


def _cells(out: Path) -> int:
    try:
        with sqlite3.connect(f"file:{out / 'comparison.sqlite'}?mode=ro", uri=True) as connection:
            found = connection.execute("SELECT count(*) FROM results").fetchone()[0]
        connection.close()
        return int(found)
    except sqlite3.Error:
        return 0


def test_choices_in_a_notation() -> None:
    found = [t.notation for t in techniques_from("top-bottom-coding:low=1|2,high=8|9")]
    assert found == [f"top-bottom-coding:low={low},high={high}" for low in (1, 2) for high in (8, 9)]
    assert [t.notation for t in techniques_from("unprotected")] == ["unprotected"]
    assert [t.notation for t in techniques_from('swapping:rate=0.1|0.2,on="a|b"')] == [
        'swapping:rate=0.1,on="a|b"',
        'swapping:rate=0.2,on="a|b"',
    ]
    with pytest.raises(eq.InputError, match="combinations"):
        techniques_from(f"top-bottom-coding:low={'|'.join(['1'] * 101)},high={'|'.join(['9'] * 101)}")


def test_an_empty_measure_of_loss_is_refused(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN)
    ran = run(folder, "plan.toml", "--utility=")
    assert ran.returncode == 2
    assert "utility" in ran.stderr
