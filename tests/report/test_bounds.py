"""No published figure is one person's value."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main
from equivoc.render.parts import shown_bounds

LEAST, GREATEST = 1234.5, 987654.25


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    pay = np.concatenate([[LEAST, GREATEST], rng.integers(20_000, 60_000, 298)])
    return pd.DataFrame({"sex": ["F", "M", "X"] * 100, "pay": pay})


def bounds(values: Any, **options: Any) -> Any:
    shown = shown_bounds(eq.Microdata(pd.DataFrame({"pay": values}), confidential="pay", **options))
    return shown and (shown.low, shown.high, shown.exact)


def test_percentiles_of_at_least_three_people() -> None:
    values = np.arange(1000.0, 1300.0)  # the 3rd of 300 from each end is the 1st percentile too
    assert bounds(values) == (1000.0, 1300.0, False)
    assert bounds([7.0, 111.0, 456.0, 457.0, 891.0, 5000.0, 9999.0]) == (450.0, 900.0, False)
    assert bounds(np.arange(10_000.0)) == (99.0, 9900.0, False)


def test_too_few_people_have_no_bounds() -> None:
    assert bounds([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert bounds([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) is not None


def test_bounds_of_a_domain_and_of_rounded_values_are_told() -> None:
    assert bounds([10.0, 20.0], domain=[5, 10, 20, 30]) == (5.0, 30.0, True)
    assert bounds([12.0, 27.0], round_to=10) == (10.0, 30.0, True)


def numbers(fact: Any) -> list[float]:
    """Every number in a fact, those inside texts too."""
    if isinstance(fact, dict):
        return [n for value in fact.values() for n in numbers(value)]
    if isinstance(fact, list):
        return [n for value in fact for n in numbers(value)]
    if isinstance(fact, str):
        words = fact.replace(",", "").replace("(", " ").replace(")", " ").split()
        return [float(word.rstrip(".")) for word in words if word.rstrip(".").replace(".", "", 1).isdigit()]
    return [float(fact)] if isinstance(fact, (int, float)) and not isinstance(fact, bool) else []


FORBIDDEN = (LEAST, GREATEST, GREATEST - LEAST)


def test_the_facts_hold_neither_end_nor_their_distance(frame: pd.DataFrame) -> None:
    people = eq.Microdata(frame, confidential="pay", keys=["sex"])
    told = eq.assess(people, eq.Sampling(fraction=0.5), known=["sex"], eps=[0, 100]).facts()
    held = numbers(told)
    assert len(held) > 200
    for value in FORBIDDEN:
        assert min(abs(n - value) for n in held) > 1e-6 * value
    assert "mean_entropy" not in [figure["name"] for figure in told["figures"]]
    assert (
        told["curve"]["eps"][-1] == told["data"]["confidential"]["high"] - told["data"]["confidential"]["low"]
    )


def test_assess_json_holds_neither_end(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frame.to_csv(tmp_path / "people.csv", index=False)
    words = ["--confidential", "pay", "--keys", "sex", "--eps", "0,100", "--json"]
    monkeypatch.setattr(sys, "argv", ["equivoc", "assess", str(tmp_path / "people.csv"), *words])
    with pytest.raises(SystemExit):
        main()
    told = json.loads(capsys.readouterr().out)
    for value in FORBIDDEN:
        assert min(abs(n - value) for n in numbers(told)) > 1e-6 * value
    assert told["summary"]["domain"]["exact"] is False
    assert "mean_entropy" not in told["summary"]["prior"]  # with the area it would tell the width


@pytest.mark.parametrize("switch", [[], ["--record-values"]])
def test_the_terminal_names_no_small_class_unasked(
    switch: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "Adams,10\n" + "Brown,20\nBrown,30\n" + "Clark,10\nClark,20\nClark,30\n"
    (tmp_path / "people.csv").write_text("name,pay\n" + rows)
    words = ["--confidential", "pay", "--keys", "name", *switch]
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys, "argv", ["equivoc", "assess", str(tmp_path / "people.csv"), *words])
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    assert "Clark" in out
    assert ("Adams" in out, "Brown" in out) == ((True, True) if switch else (False, False))
    assert ("2 classes of fewer than 3 people, 3 people in all" in out) is not bool(switch)
