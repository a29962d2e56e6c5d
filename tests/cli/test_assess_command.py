"""``equivoc assess``: what it prints and writes, and its errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main

ROWS = "age,sex,pay\n30,F,10\n30,F,20\n30,M,20\n41,M,30\n41,M,30\n52,F,50\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", *map(str, words)])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def test_json_holds_the_summary(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--confidential", "pay", "--keys", "age,sex", "--known", "sex", "--eps", "0,10", "--json"]
    assert (
        run(monkeypatch, "assess", file, *options, "--technique", "sampling:fraction=0.5", "--seed", 4) == 0
    )
    told = json.loads(capsys.readouterr().out)
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    expected = eq.assess(people, eq.Sampling(0.5), known=["sex"], seed=4, eps=[0, 10]).summary
    summary = told["summary"]
    assert summary["per_record"]["area"] == pytest.approx(expected["per_record"]["area"])
    assert summary["per_record"]["true_hit"]["10.0"] == expected["per_record"]["true_hit"][10.0]
    assert (summary["known"], told["seed"], summary["technique"]) == (["sex"], 4, "sampling:fraction=0.5")


def test_json_is_that_of_the_report(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--confidential",
        "pay",
        "--keys",
        "age,sex",
        "--unit",
        "K",
        "--technique",
        "sampling:fraction=0.5",
    ]
    assert run(monkeypatch, "assess", file, *options, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    page, facts = tmp_path / "page.html", tmp_path / "facts.json"
    assert run(monkeypatch, "report", file, *options, "--out", page, "--json", facts) == 0
    assert told == json.loads(facts.read_text())


def test_the_tables_name_classes_keys_and_directions(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert run(monkeypatch, "assess", file, "--confidential", "pay", "--keys", "age,sex") == 0
    out = capsys.readouterr().out
    for words in (
        "4 classes",
        "less is riskier",
        "more is riskier",
        "no release",
        "unchanged",
        "the actual share is",
        "Their key values are withheld",
    ):
        assert words in out


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_out_holds_classes_and_records(
    kind: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    options = ["--confidential", "pay", "--keys", "age,sex", "--out", out, "--format", kind]
    assert run(monkeypatch, "assess", file, *options, "--record-values") == 0
    reader = pd.read_csv if kind == "csv" else pd.read_parquet
    result = eq.assess(
        eq.read(file, confidential="pay", keys=["age", "sex"]), eq.Unprotected(), known=["age", "sex"]
    )
    pd.testing.assert_frame_equal(reader(out / f"classes.{kind}"), result.classes, check_dtype=False)
    pd.testing.assert_frame_equal(reader(out / f"records.{kind}"), result.records, check_dtype=False)
    assert (out / "contributions.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(out.iterdir())) == 3
    # Unless they are asked for, the keys of classes of one or two people stay out; nothing else changes.
    assert run(monkeypatch, "assess", file, *options) == 0
    shown, small = reader(out / f"classes.{kind}"), (result.classes["size"] < 3).to_numpy()
    assert small.any()
    assert shown.loc[small, ["age", "sex"]].isna().all(axis=None)
    wanted = result.classes.mask(np.outer(small, [name in ("age", "sex") for name in result.classes]))
    pd.testing.assert_frame_equal(shown, wanted, check_dtype=False)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--confidential", "pays", "--keys", "age"], "'pays'"),
        (["--confidential", "pay", "--keys", "age,aeg"], "'aeg'"),
        (["--confidential", "pay", "--keys", "pay,age"], "pay"),
        (["--confidential", "sex", "--keys", "age", "--round-to", "10"], "not a number"),
        (["--confidential", "pay", "--keys", "age", "--known", "sex"], "'sex' is not a key"),
        (["--confidential", "pay", "--keys", "age", "--technique", "sampling:fraction=2"], "fraction is 2"),
        (["--confidential", "pay", "--keys", "age", "--technique", "query-restriction:size=3"], "size is 3"),
        (
            ["--confidential", "pay", "--keys", "age", "--technique", "query-restriction:size=8"],
            "only 6 records",
        ),
        (
            ["--confidential", "pay", "--keys", "age", "--technique", "noise-addition:percent=-1"],
            "percent is -1",
        ),
        (["--confidential", "pay", "--keys", "age", "--technique", "samplign:fraction=0.1"], "'sampling'"),
        (["--confidential", "pay", "--keys", "age", "--domain", "10:20:10"], "30"),
        (["--confidential", "pay", "--keys", "age", "--domain", "10:5:1"], "low:high:step"),
        (["--confidential", "pay", "--keys", "age", "--eps", "5,x"], "'x' at position 1"),
        (["--confidential", "pay", "--keys", "age", "--eps", "-5"], "-5"),
        (["--confidential", "pay", "--keys", "age", "--format", "xls"], "xls"),
        (
            ["--confidential", "pay", "--keys", "age", "--intruder", "mallory"],
            "--intruder mallory: choose strongest, informed, register, learned, paper, file or plain.",
        ),
        (["--confidential", "pay", "--keys", "age", "--replicates", "0"], "'--replicates'"),
    ],
)
def test_bad_input_ends_in_one_sentence_and_writes_nothing(
    words: list[str],
    sentence: str,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert run(monkeypatch, "assess", file, *words, "--out", out) == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("", "empty"), ("age,sex,pay\n", "no records"), ("age,age,pay\n1,2,3\n", "age"), (None, "missing.csv")],
)
def test_files_without_people(
    content: str | None,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / ("missing.csv" if content is None else "people.csv")
    if content is not None:
        path.write_text(content)
    assert run(monkeypatch, "assess", path, "--confidential", "pay", "--keys", "age") == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1


def test_truth_and_prior_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("town,pay\n" + "a,1\n" * 3 + "b,2\nb,3\n" * 2, encoding="utf-8")
    words = [path, "--confidential", "pay", "--keys", "town"]
    assert run(monkeypatch, "assess", *words, "--prior", "marginal") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "She is certain and right about 3 people, and certain but wrong about 0 people." in printed
    assert (
        "Her mean surprise at the true values is 0.5714 bits, and 1.557 bits without the release" in printed
    )
    assert run(monkeypatch, "assess", *words, "--prior", "everyone") == 2
    assert "--prior everyone: choose marginal or uniform." in capsys.readouterr().err


def test_the_intruder_and_the_spread_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("town,pay\n" + "a,1\n" * 6 + "b,2\nb,3\n" * 4, encoding="utf-8")
    words = [path, "--confidential", "pay", "--keys", "town", "--technique", "sampling:fraction=0.5"]
    assert run(monkeypatch, "assess", *words, "--replicates", "3", "--seed", "4") == 0
    printed = " ".join(capsys.readouterr().out.split())
    people = eq.read(path, confidential="pay", keys=["town"])
    used = eq.assess(people, eq.Sampling(0.5), known=["town"], seed=4).intruder
    assert f"intruder: {used}, " in printed
    assert "register left out: no known key was changed" in printed
    assert "Over 3 releases (seeds 4 to 6) the mean surprise is" in printed
    assert "On average " in printed
    assert run(monkeypatch, "assess", *words, "--intruder", "paper", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["intruders"]["used"] == told["summary"]["intruder"] == "paper"
    assert told["spread"] is None
    assert run(monkeypatch, "assess", *words[:-1], "unprotected", "--replicates", "3") == 0
    assert "draws nothing at random" in " ".join(capsys.readouterr().out.split())
