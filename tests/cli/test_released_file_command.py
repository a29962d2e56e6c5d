"""``--release``, ``--matching`` and ``--control``: the same figures as in Python, and mistakes in a sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import equivoc as eq
from equivoc.cli.main import main

PEOPLE = "age,sex,pay\n30,F,10\n30,F,20\n30,M,20\n41,M,30\n41,M,30\n52,F,50\n"
RELEASED = 'sex,age,pay\nF,"[30,40)",10\nF,3*,20\n*,30,20\nM,41,"[20,40]"\nM,41+,30\nX,52,50\n'
CONTROL = "age,sex,pay\n30,F,20\n44,M,30\n"
ROLES = ["--confidential", "pay", "--keys", "age,sex"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in (("people", PEOPLE), ("released", RELEASED), ("control", CONTROL)):
        (tmp_path / f"{name}.csv").write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", *words])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


@pytest.mark.parametrize("matching", [None, "exact", "nearest", "probable"])
def test_json_equals_the_python_result(matching, files, monkeypatch, capsys):
    chosen = [] if matching is None else ["--matching", matching]
    words = ["--release", "released.csv", *chosen, "--control", "control.csv", "--eps", "0,20", "--json"]
    assert run(monkeypatch, "assess", "people.csv", *ROLES, *words) == 0
    told = json.loads(capsys.readouterr().out)
    people = eq.read("people.csv", confidential="pay", keys=["age", "sex"])
    technique = eq.ReleasedFile("released.csv", matching=matching)
    result = eq.assess(people, technique, known=["age", "sex"], eps=[0, 20], control="control.csv")
    expected = result.summary
    assert told["technique"]["notation"] == technique.notation
    assert told["notes"] == result.notes
    assert told["notes"][: len(result.release.notes(["age", "sex"]))] == result.release.notes(["age", "sex"])
    told = told["summary"]
    assert told["per_record"]["h0"] == pytest.approx(expected["per_record"]["h0"])
    assert told["control"]["surprise"] == pytest.approx(expected["control"]["surprise"])
    assert told["control"]["beyond"]["true_hit"]["20.0"] == pytest.approx(
        expected["control"]["beyond"]["true_hit"][20.0]
    )


def test_the_notation_and_the_option_give_the_same(files, monkeypatch, capsys):
    figures = []
    for words in (
        ["--release", "released.csv", "--matching", "nearest"],
        ["--technique", "released-file:table=released.csv,matching=nearest"],
    ):
        assert run(monkeypatch, "assess", "people.csv", *ROLES, *words, "--json") == 0
        figures.append(json.loads(capsys.readouterr().out))
    assert figures[0] == figures[1]


def test_notes_and_the_control_group_are_printed(files, monkeypatch, capsys):
    words = ["--release", "released.csv", "--control", "control.csv"]
    assert run(monkeypatch, "assess", "people.csv", *ROLES, *words) == 0
    out = capsys.readouterr().out
    assert "1 released records hold a sex that nobody in the original has, such as 'X'" in out
    assert "of 2 people who were not in the data" in out
    assert "(95% interval of the difference " in out
    assert "may be chance" in out  # two people are too few to tell


def test_the_report_shows_the_control_group(files, monkeypatch, capsys):
    words = ["--release", "released.csv", "--control", "control.csv", "--json", "facts.json"]
    assert run(monkeypatch, "report", "people.csv", *ROLES, *words) == 0
    facts = json.loads((files / "facts.json").read_text())
    page = (files / "report.html").read_text()
    people = eq.read("people.csv", confidential="pay", keys=["age", "sex"])
    told = eq.assess(
        people, eq.ReleasedFile("released.csv"), known=["age", "sex"], control="control.csv"
    ).summary
    assert facts["control"]["surprise"]["control"] == pytest.approx(told["control"]["surprise"])
    assert facts["control"]["hits"][0]["people"] == told["per_record"]["true_hit"][0.0]
    assert facts["control"]["sentence"] in page
    assert "Control group" in page
    assert any("does not know how the released file was made" in told for told in facts["assumptions"])
    assert facts["notes"][0].replace("'", "&#39;") in page
    assert run(monkeypatch, "report", "people.csv", *ROLES, "--release", "released.csv") == 0
    without = (files / "report.html").read_text()
    assert "Control group" not in without
    assert 'id="control"' not in without


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--matching", "nearest"], "give --release as well"),
        (["--release", "released.csv", "--technique", "unprotected"], "both given"),
        (["--release", "released.csv", "--matching", "fuzzy"], "matching is 'fuzzy'"),
        (["--release", "nobody.csv"], "there is no file nobody.csv"),
        (["--release", "control.csv", "--control", "nobody.csv"], "there is no file nobody.csv"),
        (["--control", "control.csv"], "give the released table to ReleasedFile"),
        (["--release", "broken.csv"], "holds '[30,', neither a number nor a range"),
    ],
)
@pytest.mark.parametrize("command", ["assess", "report"])
def test_mistakes_end_in_one_sentence(command, words, sentence, files, monkeypatch, capsys):
    (files / "broken.csv").write_text('age,sex,pay\n"[30,",F,10\n')
    assert run(monkeypatch, command, "people.csv", *ROLES, *words) == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_stated_channel(files, monkeypatch, capsys):
    noise = eq.NoiseAddition(percent=50)
    people = eq.read("people.csv", confidential="pay", keys=["age", "sex"])
    noise.release(people, 1).table.to_csv("noisy.csv", index=False)
    words = ["--release", "noisy.csv", "--channel", noise.notation, "--json"]
    assert run(monkeypatch, "assess", "people.csv", *ROLES, *words) == 0
    told = json.loads(capsys.readouterr().out)
    technique = eq.ReleasedFile("noisy.csv", channel=noise)
    assert told["technique"]["notation"] == technique.notation
    expected = eq.assess(people, technique).summary
    assert told["summary"]["per_record"]["h0"] == pytest.approx(expected["per_record"]["h0"])
    assert "binomial noise" in json.dumps(told)


def test_a_channel_needs_a_release(files, monkeypatch, capsys):
    assert run(monkeypatch, "assess", "people.csv", *ROLES, "--channel", "noise-addition:percent=5") == 2
    assert "give --release as well" in capsys.readouterr().err
