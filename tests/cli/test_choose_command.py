"""``equivoc choose``: what it prints, its exit codes, and the caller's mistakes."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main

NOISE = "noise-addition:percent=1..40"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    age = rng.integers(20, 26, 120)
    pay = 10 * np.clip(np.round(rng.lognormal(2, 0.7, 120)), 1, 40)
    path = tmp_path / "people.csv"
    pd.DataFrame({"age": age, "sex": rng.choice(list("FM"), 120), "pay": pay}).to_csv(path, index=False)
    return path


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", *map(str, words)])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def words(file: Path, *more: str) -> list[str]:
    return ["choose", str(file), "--confidential", "pay", "--keys", "age,sex", *more]


def test_json_is_what_python_finds(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words(
        file, "--technique", NOISE, "--require", "h0 >= 3.6", "--known", "age", "--seed", "2", "--json"
    )
    assert run(monkeypatch, *given) == 0
    told = json.loads(capsys.readouterr().out)
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    best = eq.choose(people, eq.NoiseAddition, low=1, high=40, require=["h0 >= 3.6"], known=["age"], seed=2)
    (choice,) = told["choices"]
    assert told["technique"] == choice["notation"] == best.technique.notation
    assert choice["value"] == best.value
    assert choice["failed"] == best.failed.percent
    assert choice["binding"] == best.binding == "h0 >= 3.6"
    assert choice["missed_by"] == pytest.approx(best.missed_by)
    assert told["assessments"] == best.assessments == len(choice["tried"])
    assert choice["loss"] > 0


def test_the_command_that_makes_the_file_is_printed(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words(file, "--technique", NOISE, "--require", "h0 >= 3", "--known", "age", "--round-to", "20")
    assert run(monkeypatch, *given) == 0
    told = capsys.readouterr().out
    assert "is the mildest setting found that meets the requirements" in told
    assert "fails: h0 >= 3 is not met" in told
    (line,) = [line for line in told.splitlines() if line.startswith("To make the file: ")]
    command = shlex.split(line.removeprefix("To make the file: "))
    assert command[:3] == ["equivoc", "protect", str(file)]
    for option in ("--known", "--round-to", "--technique", "--require", "--out"):
        assert option in command
    assert command[command.index("--round-to") + 1] == "20"
    assert "--seed" not in command


def test_none_meets_is_exit_code_3(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words(file, "--technique", NOISE, "--require", "h0 >= 0.1", "--require", "h0@p95 >= 5.2")
    assert run(monkeypatch, *given) == 3
    told = capsys.readouterr().out
    assert "No setting of noise-addition that was tried meets the requirements (1 setting tried)" in told
    assert "At the strongest, percent=40, h0@p95 >= 5.2 is not met" in told
    assert "To make the file" not in told
    assert run(monkeypatch, *given, "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert found["technique"] is None
    assert found["protect"] is None
    assert found["choices"][0]["missed_by"] > 0


def test_several_techniques(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words(
        file, "--technique", NOISE, "--technique", "sampling:fraction=0.1..0.9", "--require", "h0 >= 3"
    )
    assert run(monkeypatch, *given, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    losses = [choice["loss"] for choice in told["choices"]]
    assert told["technique"] == told["choices"][int(np.argmin(losses))]["notation"]
    assert run(monkeypatch, *given) == 0
    assert f"Chosen: {told['technique']}." in capsys.readouterr().out


def test_a_name_alone_has_the_usual_range(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(monkeypatch, *words(file, "--technique", "noise-addition", "--require", "h0 >= 3", "--json")) == 0
    )
    tried = [each["value"] for each in json.loads(capsys.readouterr().out)["choices"][0]["tried"]]
    assert tried[:2] == [100, 1]


def test_query_restriction_makes_no_file(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words(file, "--technique", "query-restriction:size=2..20", "--require", "h0 >= 2")
    assert run(monkeypatch, *given) == 0
    assert "releases no file" in capsys.readouterr().out


def test_plain_progress(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words(file, "--technique", NOISE, "--require", "h0 >= 3", "--progress", "plain", "--json")
    assert run(monkeypatch, *given) == 0
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == json.loads(told.out)["assessments"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--technique", "noise-addition:percent=9..1", "--require", "h0 >= 1"],
            "low must not be above high",
        ),
        (["--technique", "noise-addition:percnt=1..9", "--require", "h0 >= 1"], "did you mean 'percent'"),
        (["--technique", "noise-addition:edge=1..9", "--require", "h0 >= 1"], "edge is not a number"),
        (["--technique", "noise-addition:percent=9", "--require", "h0 >= 1"], "give a range"),
        (["--technique", "noise-addition"], "--require"),
        (["--require", "h0 >= 1"], "--technique"),
        (["--technique", "noise-addition", "--require", "h0 > 1"], "character 4"),
        (["--technique", "noise-addition", "--require", "h0 >= 1", "--utility", "x"], "--utility is 'x'"),
        (["--technique", "noise-addition", "--require", "h0 >= 1", "--progress", "x"], "--progress x"),
        (
            ["--technique", "noise-addition", "--require", "h0 >= 3", "--require", "h0 <= 2"],
            "contradict each other",
        ),
        (["--technique", "unprotected", "--require", "h0 >= 1"], "no numeric parameter"),
    ],
)
def test_mistakes_are_one_sentence(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[Any],
    said: str,
) -> None:
    assert run(monkeypatch, *words(file, *more)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert len(told.err.strip().splitlines()) == 1


def test_several_attributes_are_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["choose", file, "--confidential", "pay,sex", "--keys", "age", "--technique", NOISE]
    assert run(monkeypatch, *given, "--require", "h0 >= 1") == 2
    assert "takes one confidential attribute" in capsys.readouterr().err
