"""Folders, databases, samples and limits of memory on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import equivoc as eq
from equivoc.cli.app import app
from equivoc.cli.main import main
from tests.postgresql_server import PASSWORDS, PostgresqlServer

OPTIONS = ("--confidential", "pay", "--keys", "age,sex")
ROLES = {"confidential": "pay", "keys": ["age", "sex"]}
FRAME = pd.DataFrame({"age": [30, 30, 30, 41, 41, 52] * 9, "sex": list("FFMMMF") * 9, "pay": range(54)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people").mkdir()
    for number in range(2):
        FRAME.iloc[number::2].to_parquet(tmp_path / "people" / f"{number}.parquet")
    return tmp_path / "people"


def test_a_folder_within_a_limit_of_memory(folder: Path, tmp_path: Path) -> None:
    spill = tmp_path / "scratch"
    spill.mkdir()
    limits = ["--memory-limit", "1GiB", "--spill", str(spill), "--sample", "20"]
    done = CliRunner().invoke(app, ["measures", str(folder), *OPTIONS, *limits, "--json"])
    assert done.exit_code == 0, done.output
    told = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    expected = eq.measures(eq.read(folder, **ROLES, sample=20))
    assert told["k-anonymity"] == expected.set_index("measure")["value"]["k-anonymity"]
    assert told != {row.measure: row.value for row in eq.measures(eq.read(folder, **ROLES)).itertuples()}
    assert not list(spill.iterdir())


def test_outputs_are_not_written_among_the_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = _mistake(capsys, "assess", str(folder), *OPTIONS, "--out", str(folder), "--format", "parquet")
    assert "is an input folder. Choose another folder." in told
    assert sorted(path.name for path in folder.iterdir()) == ["0.parquet", "1.parquet"]


def test_a_database(
    postgresql_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PGPASSFILE", str(postgresql_server.password_file))
    values = ", ".join(f"({age}, '{sex}', {pay})" for age, sex, pay in FRAME.itertuples(index=False))
    postgresql_server.run(f"""
        CREATE TABLE of_command (age integer, sex text, pay integer); INSERT INTO of_command VALUES {values};
        GRANT SELECT ON of_command TO reader;
    """)
    address, out = postgresql_server.address("of_command"), tmp_path / "out"
    done = CliRunner().invoke(
        app,
        ["assess", address, *OPTIONS, "--technique", "sampling:fraction=0.5", "--json", "--out", str(out)],
    )
    assert done.exit_code == 0, done.output
    expected = eq.assess(
        eq.Microdata(FRAME.sort_values(["age", "sex", "pay"]), **ROLES), eq.Sampling(fraction=0.5)
    )
    records = pd.read_csv(out / "records.csv")
    assert records["h0"].to_numpy() == pytest.approx(expected.records["h0"].to_numpy(), abs=1e-9)
    written = done.output + "".join(path.read_text() for path in out.glob("*.csv"))
    assert not any(word in written for word in PASSWORDS.values())


def test_a_sample_is_not_protected(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["protect", str(folder), *OPTIONS, "--technique", "swapping:rate=0.5", "--sample", "9"]
    assert "protect needs all records" in _mistake(capsys, *words, "--out", str(tmp_path / "protected.csv"))
    assert [path.name for path in tmp_path.iterdir()] == ["people"]


def _mistake(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that ends with exit code 2."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["equivoc", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--records-to", "x"], "--records-to is for people in a Spark cluster"),
        (["--beside", "id"], "give --records-to as well"),
    ],
)
def test_records_are_written_by_a_cluster_only(
    words: list[str], told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in _mistake(capsys, "assess", str(folder), *OPTIONS, *words)
