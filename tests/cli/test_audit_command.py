"""``equivoc audit``: prints what the library finds, writes its files, and says what is wrong in one sentence."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main

LOG = """
SELECT SUM(salary) FROM people; -- answer: 374
SELECT SUM(salary) FROM people WHERE age <= 41;
SELECT sex, AVG(salary) FROM people GROUP BY sex;
"""
OPTIONS = ["--confidential", "salary", "--domain", "10:150:1"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("sex,age,salary\nF,30,50\nF,41,107\nM,37,77\nM,37,80\nM,52,60\n", encoding="utf-8")
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.sql"
    path.write_text(LOG, encoding="utf-8")
    return path


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", "audit", *map(str, words)])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_who_is_disclosed_and_by_which_statements(
    file: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, file, *OPTIONS, "--queries", log, "--unit", "K") == 0
    told = capsys.readouterr()
    assert told.err == ""
    text = " ".join(told.out.split())
    assert "5 records; 3 statements with 4 questions; 3 groups of people in the same query sets." in text
    assert "The exact salary of 1 of 5 people (20.0%) follows from the answers." in text
    assert "within ±5K" in text
    assert "a smallest set" in text
    assert '2: SELECT SUM("salary") FROM "people" WHERE "age" <= 41' in text
    assert "Their key values are withheld" in text
    assert "52" not in text
    assert "60" not in text


def test_small_groups_are_named_on_request(
    file: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, file, *OPTIONS, "--queries", log, "--record-values", "--keys", "age,sex") == 0
    assert "52" in capsys.readouterr().out


def test_requirements_decide_the_exit_code(
    file: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [file, *OPTIONS, "--queries", log]
    assert run(monkeypatch, *words, "--require", "h0@worst >= 1") == 3
    assert "No, the answers do not meet the requirement." in capsys.readouterr().out
    assert run(monkeypatch, *words, "--require", "h0@worst >= 0") == 0
    assert "Yes, the answers meet the requirement." in capsys.readouterr().out
    assert run(monkeypatch, *words, "--require", "h0@worst >= 1", "--known", "sex") == 0
    assert run(monkeypatch, *words, "--require", "h0@worst >= 1", "--known", "none") == 0


def test_json_has_the_facts_of_the_library(
    file: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--queries", log, "--prior", "marginal", "--eps", "0,20", "--seed", 4, "--json"]
    assert run(monkeypatch, file, *OPTIONS, *words) == 0
    told = json.loads(capsys.readouterr().out)
    people = eq.read(file, confidential="salary", keys=["sex", "age"], domain=range(10, 151))
    facts = eq.audit(people, LOG, prior="marginal", eps=[0, 20], seed=4).facts()
    assert told == facts | {"files": []}


def test_tables_and_page(
    file: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert run(monkeypatch, file, *OPTIONS, "--queries", log, "--out", folder) == 0
    assert "written: " in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == [
        "compromised.csv",
        "records.csv",
        "report.html",
        "statements.csv",
    ]
    people = eq.read(file, confidential="salary", keys=["sex", "age"], domain=range(10, 151))
    found = eq.audit(people, LOG)
    kept = found.compromised[["record", "h0", "method", "proved"]]
    figures = found.frame.drop(columns=["low", "high"])
    pd.testing.assert_frame_equal(pd.read_csv(folder / "records.csv"), figures)
    pd.testing.assert_frame_equal(pd.read_csv(folder / "compromised.csv"), kept, check_dtype=False)
    assert stat.S_IMODE((folder / "records.csv").stat().st_mode) == 0o600
    alone = tmp_path / "page.html"
    assert run(monkeypatch, file, *OPTIONS, "--queries", log, "--out", alone) == 0
    assert alone.read_bytes() == (folder / "report.html").read_bytes()
    assert run(monkeypatch, file, *OPTIONS, "--queries", log, "--out", folder, "--record-values") == 0
    pd.testing.assert_frame_equal(pd.read_csv(folder / "records.csv"), found.frame)
    pd.testing.assert_frame_equal(
        pd.read_csv(folder / "compromised.csv"), found.compromised, check_dtype=False
    )
    pd.testing.assert_frame_equal(pd.read_csv(folder / "statements.csv"), found.statements, check_dtype=False)


def test_recorded_answers(
    file: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("statement,answer\n2,315\n", encoding="utf-8")
    assert run(monkeypatch, file, *OPTIONS, "--queries", log, "--answers", answers, "--json") == 0
    [note] = json.loads(capsys.readouterr().out)["notes"]
    assert "1 statement (2) differ" in note


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--prior", "flat"], "--prior flat: choose marginal or uniform"),
        (["--known", "agee"], "did you mean 'age'"),
        (["--keys", "agee"], "did you mean 'age'"),
        (["--queries", "nowhere.sql"], "nowhere.sql"),
        (["--answers", "nowhere.csv"], "nowhere.csv"),
        (["--confidential", "sex"], "holds categories"),
        (["--confidential", "salary,age"], "audit takes one confidential attribute"),
        (["--require", "h1 >= 1"], "h1"),
        (["--eps", "x"], "--eps"),
        (["--work", "-1"], "work is -1"),
        (["--domain", "10:20"], "--domain 10:20"),
        (["--out", "people.csv"], "people.csv"),
    ],
)
def test_mistakes_are_one_sentence(
    words: list[str],
    told: str,
    file: Path,
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(file.parent)
    domain = [] if "--confidential" in words else ["--domain", "10:150:1"]
    assert run(monkeypatch, file, "--confidential", "salary", "--queries", log, *domain, *words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert len(printed.err.strip().splitlines()) == 1


def test_unsupported_sql_is_named_with_its_position(
    file: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text("SELECT SUM(salary) FROM people;\nSELECT salary FROM people", encoding="utf-8")
    assert run(monkeypatch, file, *OPTIONS, "--queries", log) == 2
    assert "statement 2, line 2, character 8" in capsys.readouterr().err
