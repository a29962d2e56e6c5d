"""``equivoc report`` writes the page and the facts, or says in one sentence why it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import equivoc as eq
from equivoc.cli.app import app
from equivoc.cli.main import main

OPTIONS = (
    "--confidential pay --keys age,sex --technique sampling:fraction=0.5 --known age,sex --seed 3 --eps 0,10 "
    "--domain 10:50:10 --intruder informed"
)


@pytest.fixture
def people(frame: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


def test_page_and_facts(people: Path, tmp_path: Path) -> None:
    read = eq.read(people, confidential="pay", keys=["age", "sex"], domain=range(10, 60, 10))
    result = eq.assess(
        read, eq.Sampling(fraction=0.5), known=["age", "sex"], seed=3, eps=[0, 10], intruder="informed"
    )
    out, facts = tmp_path / "r.html", tmp_path / "facts.json"
    options = [*OPTIONS.split(), "--unit", "K", "--out", str(out), "--json", str(facts)]
    done = CliRunner().invoke(app, ["report", str(people), *options])
    assert done.exit_code == 0, done.output
    assert str(out) in done.stdout
    assert json.loads(facts.read_text(encoding="utf-8")) == result.facts(unit="K")
    result.report(tmp_path / "same.html", unit="K")
    assert out.read_bytes() == (tmp_path / "same.html").read_bytes()


@pytest.mark.parametrize("option", ["--out", "--json"])
@pytest.mark.parametrize("where", ["no/such/folder/r.html", "."])
def test_unwritable_paths(
    option: str,
    where: str,
    people: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["equivoc", "report", str(people), *OPTIONS.split(), option, where])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be written" in told
    assert not (tmp_path / "report.html").exists()


def test_an_unknown_technique(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--confidential", "pay", "--keys", "age", "--technique", "samplng:fraction=0.5"]
    monkeypatch.setattr("sys.argv", ["equivoc", "report", str(people), *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert "did you mean 'sampling'" in capsys.readouterr().err
