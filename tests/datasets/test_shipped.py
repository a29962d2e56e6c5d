"""The file that comes with equivoc."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import equivoc as eq

HEAVY = {"numba", "duckdb", "pandas", "polars", "pyarrow", "scipy", "sqlglot"}


def test_the_file_is_whole() -> None:
    frame = eq.datasets.load("cps_hourly_workers")
    assert frame.shape == (2500, 13)
    assert not frame.isna().any().any()
    assert not (frame.astype(str) == "").any().any()
    assert frame.wage_per_hour.between(100, 9999).all()
    assert frame.wage_per_hour.nunique() == 566
    assert frame.age.between(16, 82).all()
    assert set(frame.sex) == {"Female", "Male"}
    assert frame[["education", "major_industry", "major_occupation"]].nunique().tolist() == [16, 22, 13]
    # Sums that any change to the values would move.
    assert frame.wage_per_hour.sum() == 2_471_389
    assert frame.iloc[0].tolist()[:3] == [28, "Female", "Some college but no degree"]


def test_its_source_and_licence_lie_beside_it() -> None:
    beside = eq.datasets.path("cps_hourly_workers").with_suffix(".md").read_text(encoding="utf-8")
    for words in (
        "Current Population Survey",
        "Census-Income (KDD)",
        "CC BY 4.0",
        "public domain",
        "US cents",
    ):
        assert words in beside
    for column in eq.datasets.load("cps_hourly_workers"):
        assert f"| {column} |" in beside


def test_people_have_the_roles_of_the_experiment() -> None:
    people = eq.datasets.people("cps_hourly_workers")
    assert len(people) == 2500
    assert people.confidential == "wage_per_hour"
    assert people.values.size == 46
    assert (people.values % 100 == 0).all()
    assert people.keys == (
        "age",
        "sex",
        "education",
        "major_industry",
        "major_occupation",
        "weeks_worked",
    )
    wages = eq.datasets.load("cps_hourly_workers").wage_per_hour.to_numpy()
    assert np.array_equal(people.values[people.codes], (wages + 50) // 100 * 100)


def test_text_that_looks_missing_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from equivoc.datasets import shipped

    (tmp_path / "some.csv").write_text("group,n\nNA,1\n,2\n")
    monkeypatch.setattr(shipped, "path", lambda name: tmp_path / f"{name}.csv")
    assert shipped.load("some").group.tolist() == ["NA", ""]


def test_names_and_paths() -> None:
    assert eq.datasets.names() == ["cps_hourly_workers"]
    for name in eq.datasets.names():
        assert eq.datasets.path(name).is_file()


@pytest.mark.parametrize("ask", [eq.datasets.load, eq.datasets.path, eq.datasets.people])
def test_an_unknown_name_is_answered_with_the_nearest(ask) -> None:
    with pytest.raises(eq.InputError, match=r"'cps_hourly' .*did you mean 'cps_hourly_workers'\?"):
        ask("cps_hourly")
    with pytest.raises(eq.InputError, match="choose from cps_hourly_workers"):
        ask("xyz")
    with pytest.raises(eq.InputError):
        ask(None)


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, equivoc, equivoc.datasets; equivoc.datasets.names(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not HEAVY & set(done.stdout.split())
