"""``equivoc measures``: the library's rows, as a table and as JSON."""

from __future__ import annotations

import json
from math import isinf
from pathlib import Path

import pytest
from typer.testing import CliRunner

import equivoc as eq
from equivoc.cli.app import app
from equivoc.cli.main import main

ROWS = "age,sex,pay\n30,F,10\n30,F,20\n30,M,20\n41,M,30\n41,M,30\n52,F,50\n"
OPTIONS = ("--confidential", "pay", "--keys", "age,sex")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize("known", [None, "sex", "none"])
@pytest.mark.parametrize("technique", [None, "sampling:fraction=0.5"])
def test_json_holds_the_frame(
    known: str | None,
    technique: str | None,
    file: Path,
) -> None:
    options = [] if known is None else ["--known", known]
    options += [] if technique is None else ["--technique", technique, "--seed", "4"]
    done = CliRunner().invoke(app, ["measures", str(file), *OPTIONS, "--json", *options])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["measures"]
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    release = None if technique is None else eq.Sampling(0.5).release(people, 4)
    asked = None if known is None else [name for name in [known] if name != "none"]
    expected = eq.measures(people, release, known=asked).to_dict("records")
    assert told == [row | {"value": None if isinf(row["value"]) else row["value"]} for row in expected]


def test_the_intruder_and_the_prior_are_passed_on(file: Path) -> None:
    options = [
        "--technique",
        "sampling:fraction=0.5",
        "--seed",
        "4",
        "--intruder",
        "paper",
        "--prior",
        "uniform",
    ]
    done = CliRunner().invoke(app, ["measures", str(file), *OPTIONS, "--json", *options])
    assert done.exit_code == 0, done.output
    told = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    figures = [
        eq.assess(people, eq.Sampling(0.5), seed=4, intruder=intruder).means["h0"]
        for intruder in ("paper", "informed")
    ]
    assert told["H0"] == pytest.approx(figures[0])
    assert abs(figures[0] - figures[1]) > 0.01
    done = CliRunner().invoke(app, ["measures", str(file), *OPTIONS, "--intruder", "mallory"])
    assert isinstance(done.exception, eq.InputError)


def test_a_released_file_is_measured_like_its_technique(file: Path, tmp_path: Path) -> None:
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    release = eq.Generalisation(k=2).release(people)
    release.table.to_csv(tmp_path / "released.csv", index=False)
    done = CliRunner().invoke(
        app, ["measures", str(file), *OPTIONS, "--json", "--release", str(tmp_path / "released.csv")]
    )
    assert done.exit_code == 0, done.output
    told = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    expected = eq.measures(people, release).set_index("measure")["value"]
    for measure in ("H0", "A", "k-anonymity", "H0, original"):
        assert told[measure] == pytest.approx(expected[measure], rel=1e-12)
    assert told["H0"] > told["H0, original"]


def test_the_table_names_values_and_meanings(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out = CliRunner().invoke(app, ["measures", str(file), *OPTIONS]).stdout
    for words in (
        "k-anonymity",
        "t-closeness, ordered",
        "2 records are alone",
        "more is safer",
        "less is safer",
    ):
        assert words in out
    assert "original" not in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--confidential", "pays", "--keys", "age"], "'pays'"),
        ([*OPTIONS, "--known", "job"], "'job' is not a key"),
        ([*OPTIONS, "--technique", "samplign:fraction=0.1"], "'sampling'"),
        ([*OPTIONS, "--technique", "query-restriction:size=8"], "only 6 records"),
        ([*OPTIONS, "--control", "nowhere.csv"], "the control group cannot be used"),
        ([*OPTIONS, "--fraction", "0"], "--fraction is 0.0; it must be a share of the population"),
        ([*OPTIONS, "--fraction", "1.5"], "--fraction is 1.5; it must be a share of the population"),
        ([*OPTIONS, "--fraction", "0.1", "--technique", "unprotected"], "--fraction is for a file"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    words: list[str],
    sentence: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["equivoc", "measures", str(file), *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_sample_brings_the_populations_uniques(file: Path) -> None:
    done = CliRunner().invoke(app, ["measures", str(file), *OPTIONS, "--json", "--fraction", "0.05"])
    assert done.exit_code == 0, done.output
    told = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    expected = eq.models.population_uniques(people, fraction=0.05)
    assert told["population uniques, Dankar's rule"] == pytest.approx(expected.share)


def test_a_control_group_brings_attacks(file: Path, tmp_path: Path) -> None:
    (tmp_path / "released.csv").write_text("age,sex,pay\n30,F,10\n41,M,30\n52,F,50\n33,M,20\n")
    (tmp_path / "control.csv").write_text("age,sex,pay\n31,F,10\n40,M,20\n55,F,50\n")
    words = ["--release", str(tmp_path / "released.csv"), "--control", str(tmp_path / "control.csv")]
    done = CliRunner().invoke(app, ["measures", str(file), *OPTIONS, "--json", *words])
    assert done.exit_code == 0, done.output
    told = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    release = eq.ReleasedFile(tmp_path / "released.csv").release(people)
    expected = eq.models.membership_inference(people, release, control=tmp_path / "control.csv", attacks=300)
    assert told["membership inference, closest record"] == expected.accuracy
    assert "singling out, univariate" in told
