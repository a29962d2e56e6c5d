"""Categories, hierarchies, orders and several confidential attributes on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main

PEOPLE = (
    "age,sex,salary,disease,severity,code\n30,F,10,flu,mild,1\n30,F,20,asthma,severe,7\n30,F,20,flu,mild,1\n"
    "41,M,30,ulcer,moderate,7\n41,M,30,flu,severe,1\n41,M,50,ulcer,mild,9\n"
)
TREE = "disease;chapter;all\nflu;lungs;*\nasthma;lungs;*\nulcer;stomach;*\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "disease.csv").write_text(TREE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def run(words: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", *words.split()])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def test_a_hierarchy_gives_sentences_about_its_levels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "assess people.csv --confidential disease --hierarchy disease=disease.csv --keys sex"
    assert run(words, monkeypatch) == 0
    out = capsys.readouterr().out
    assert "area, bits × levels" in out
    assert (
        "Her best guess of a random person's disease is exact with probability 0.67 by her posterior" in out
    )
    assert (
        "Her best guess of a random person's disease is right about the chapter with probability 0.83" in out
    )
    assert run(words + " --json", monkeypatch) == 0
    people = eq.read("people.csv", confidential=eq.Tree("disease", "disease.csv"), keys=["sex"])
    assert json.loads(capsys.readouterr().out) == eq.assess(people, eq.Unprotected()).facts()


def test_orders_and_codes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "assess people.csv --confidential severity --ordered severity=mild,moderate,severe --keys sex --eps 2"
    )
    assert run(words, monkeypatch) == 0
    out = capsys.readouterr().out
    assert "area, bits × ranks" in out
    assert "severity is within ±1 rank with probability 1.00" in out
    assert run("assess people.csv --confidential code --categories code --keys sex --json", monkeypatch) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["data"]["confidential"]["words"] == "3 categories"
    assert told["data"]["confidential"]["low"] is None


def test_several_attributes_each_and_together(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "assess people.csv --confidential salary,disease --hierarchy disease=disease.csv --keys sex "
    words += "--technique sampling:fraction=0.5 --eps salary=0,10,disease=1 --unit K"
    assert run(words + " --out out", monkeypatch) == 0
    out = capsys.readouterr().out
    people = eq.read("people.csv", confidential=["salary", eq.Tree("disease", "disease.csv")], keys=["sex"])
    result = eq.assess(people, eq.Sampling(0.5), eps={"salary": [0, 10], "disease": [1]})
    assert "right for at least one: salary within ±5K, disease right about the chapter" in out
    assert f"any true hit: {result.together['any_true_hit']:.2f}" in out
    for label in ("H0: ", "surprise: ", "gain: ", "true hit: "):
        assert f"\n{label}" in out
    records = pd.read_csv(folder / "out" / "records.csv")
    pd.testing.assert_frame_equal(records, result.records, check_dtype=False)
    assert {path.name for path in (folder / "out").iterdir()} >= {"classes-salary.csv", "classes-disease.csv"}
    assert run(words + " --json", monkeypatch) == 0
    assert json.loads(capsys.readouterr().out) == result.facts(units={"salary": "K"})


def test_several_attributes_have_a_page_each(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "report people.csv --confidential salary,disease --keys sex --json facts.json "
    words += "--hierarchy disease=disease.csv"
    assert run(words, monkeypatch) == 0
    out = capsys.readouterr().out
    assert "The report is in report-salary.html." in out
    assert "The report is in report-disease.html." in out
    assert not (folder / "report.html").exists()
    facts = json.loads((folder / "facts.json").read_text())
    for name in ("salary", "disease"):
        page = (folder / f"report-{name}.html").read_text()
        assert facts["attributes"][name]["sentences"]["shown"].replace("'", "&#39;") in page
    result = eq.assess(
        eq.read("people.csv", confidential=["salary", eq.Tree("disease", "disease.csv")], keys=["sex"]),
        eq.Unprotected(),
    )
    assert [path.name for path in result.report("r.html")] == ["r-salary.html", "r-disease.html"]
    assert (folder / "r-disease.html").read_bytes() == (folder / "report-disease.html").read_bytes()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("measures --confidential salary,disease", "give one, such as --confidential salary."),
        ("assess --confidential salary,salary", "'salary' is named twice"),
        ("assess --confidential disease --hierarchy diseas=disease.csv", "did you mean 'disease'?"),
        (
            "assess --confidential disease --ordered x=a,b",
            "--ordered is given for 'x', which is not confidential",
        ),
        (
            "assess --confidential disease --hierarchy disease",
            "give an attribute and its file, such as disease=",
        ),
        (
            "assess --confidential disease --hierarchy disease=no.csv",
            "the hierarchy of 'disease' cannot be used",
        ),
        (
            "assess --confidential severity --ordered severity=mild,severe",
            "on line 5 of people.csv, the confidential",
        ),
        ("assess --confidential severity --ordered severity=mild,,severe", "position 1 is empty"),
        ("assess --confidential code --categories cods", "--categories is given for 'cods', which"),
        ("assess --confidential disease --round-to 10", "'flu', which is not a number"),
        ("assess --confidential salary,code --round-to 10", "--round-to needs exactly one numeric column"),
        ("assess --confidential salary,disease --eps 10", "the attribute of the tolerance 10 is missing"),
        ("assess --confidential salary,disease --eps pay=10", "'pay' is not confidential"),
        ("assess --confidential salary,code --unit K", "salary and code are numeric"),
        ("assess --confidential disease --unit K", "none is numeric"),
        ("assess --confidential salary --precision 0", "--precision is 0"),
        ("report --confidential disease --budget", "holds categories: the privacy budget"),
        ("report --confidential disease --hierarchy disease=disease.csv --out disease.csv", "disease.csv"),
        (
            "assess --confidential disease --technique rounding:base=10",
            "holds categories, which cannot be rounded",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(
    words: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command, rest = words.split(" ", 1)
    assert run(f"{command} people.csv {rest} --keys sex", monkeypatch) == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert (Path("disease.csv")).read_text() == TREE


def test_thirty_thousand_people_with_a_class_of_salary_in_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With blanks around the words, as in a well-known census file: two categories, three quarters in the lower."""
    rng = np.random.default_rng(9)
    n = 30_000
    high = rng.random(n) < 0.25
    words = np.where(high, " >50K", rng.choice([" <=50K", "<=50K "], n))
    pd.DataFrame(
        {"age": rng.integers(17, 90, n), "sex": rng.choice([" Male", " Female"], n), "class": words}
    ).to_csv(folder / "adult.csv", index=False)
    assert run("assess adult.csv --confidential class --keys age,sex --known sex --json", monkeypatch) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["data"]["confidential"]["words"] == "2 categories"
    frame = pd.DataFrame({"sex": pd.read_csv(folder / "adult.csv")["sex"], "high": high})
    h0 = 0.0
    for _, group in frame.groupby("sex"):
        p = group["high"].mean()
        h0 += len(group) / n * -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    assert told["figures"][0]["release"] == pytest.approx(h0)


def test_a_tolerance_certifies_areas_and_estimates_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pay = np.random.default_rng(2).permutation(np.arange(1, 1201) ** 2 % 99_991)
    pd.DataFrame({"sex": ["F", "M"] * 600, "pay": pay}).to_csv(folder / "pays.csv", index=False)
    words = "assess pays.csv --confidential pay --keys sex --known none"
    assert run(words, monkeypatch) == 0
    assert (
        "The areas of 1 class with many values are estimates; of those that were checked"
        in capsys.readouterr().out
    )
    assert run(words + " --json", monkeypatch) == 0
    estimated = json.loads(capsys.readouterr().out)
    assert run(words + " --json --precision 0.01", monkeypatch) == 0
    certified = json.loads(capsys.readouterr().out)
    assert certified["estimates"] is None
    area, sure = (facts["figures"][1]["release"] for facts in (estimated, certified))
    assert area == pytest.approx(sure, rel=0.01 + estimated["estimates"]["largest_error"])
