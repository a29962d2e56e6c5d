"""``equivoc reproduce``: the paper's experiment on a small Census file, from the file to the verdicts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main
from equivoc.experiments.reproduction import FRACTIONS, NOISE_PERCENTS, QUERY_SIZES, experiment


@pytest.fixture
def pums(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    n = 120
    frame = pd.DataFrame(
        {
            "AGEP": rng.integers(16, 60, n),
            "SEX": rng.integers(1, 3, n),
            "SCHL": rng.integers(1, 17, n),
            "INDP": rng.choice([170, 770, 4670, 7860], n),
            "OCCP": rng.choice([10, 2200, 4700, 9000], n),
            "JWMNP": rng.integers(1, 60, n),
            "WAGP": rng.integers(8_000, 120_000, n),
        }
    )
    path = tmp_path / "ss06pil.csv"
    frame.to_csv(path, index=False)
    return path


def test_figures_tables_and_verdicts(
    pums: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "illinois"
    words = [
        "reproduce",
        "--pums",
        str(pums),
        "--out",
        str(out),
        "--records",
        "100",
        "--replicates",
        "2",
        "--workers",
        "1",
        "--json",
    ]
    monkeypatch.setattr(sys, "argv", ["equivoc", *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert [c["number"] for c in told["claims"]] == [1, 2, 3, 4, 5]
    for name in ("worked_example", "two_salaries", "figure2", "figure4"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    verdicts = pd.read_csv(out / "claims.csv")
    assert verdicts["holds"].tolist() == [c["verdict"] for c in told["claims"]]
    results = pd.read_csv(out / "results.csv")
    assert len(results) == (len(FRACTIONS) + len(QUERY_SIZES) + len(NOISE_PERCENTS)) * 2 * 7


def test_the_shipped_people_are_used_without_a_census_file() -> None:
    study = experiment(eq.datasets.people("cps_hourly_workers"), replicates=1, seed=0)
    assert len(study.people) == 2500
    assert len(study.people.keys) == 6
    assert len(study.techniques) == 16


def test_a_census_file_without_the_columns_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.csv"
    path.write_text("AGEP,SEX\n30,1\n")
    monkeypatch.setattr(
        sys, "argv", ["equivoc", "reproduce", "--pums", str(path), "--out", str(tmp_path / "x")]
    )
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert "WAGP" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_too_few_people_for_the_largest_query_are_refused_before_anything_is_written(
    pums: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "few"
    words = ["equivoc", "reproduce", "--pums", str(pums), "--records", "10", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "the paper's largest query sums 32" in capsys.readouterr().err
    assert not out.exists()
