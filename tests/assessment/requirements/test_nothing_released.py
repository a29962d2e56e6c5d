"""The figures if nothing is released, against a computation by hand, and what is said about limits beyond them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.requirements.nothing_released import NothingReleased
from equivoc.requirements.requirement import parse_requirement
from tests.commands import run_command

PAY = [10] * 6 + [20] * 9 + [30] * 4 + [80]


def people() -> Any:
    frame = pd.DataFrame({"age": [30 + at % 3 for at in range(20)], "pay": PAY})
    return eq.Microdata(frame, confidential="pay", keys=["age"])


def nothing(text: str, prior: Any = None) -> float:
    own = people()
    shares = np.array([6, 9, 4, 1]) / 20 if prior is None else np.array(prior)
    return NothingReleased.of(own, shares).figure(parse_requirement(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h0 >= 1", -sum(p * np.log2(p) for p in (0.3, 0.45, 0.2, 0.05))),
        ("h0@worst >= 1", -sum(p * np.log2(p) for p in (0.3, 0.45, 0.2, 0.05))),
        ("hit(0) <= 1", 0.45),
        ("hit(10) <= 1", 0.75),
        ("true_hit(0) <= 1", 0.45),  # she names 20
        ("true_hit(0)@worst <= 1", 1.0),  # and is right about somebody
        ("true_hit(10) <= 1", 0.75),  # 10 to 20
        ("true_hit(10)@p95 <= 1", 1.0),
        ("true_hit(20) <= 1", 0.95),  # 10 to 30: all but one
        ("surprise(0) >= 1", -sum(p * np.log2(p) for p in (0.3, 0.45, 0.2, 0.05))),
        ("surprise(0)@worst >= 1", -np.log2(0.45)),
        ("surprise(0)@p95 >= 1", -np.log2(0.45)),
        ("gain(0) <= 1", 0.0),
        ("gain(0)@worst <= 1", 0.0),
        ("certain_right <= 1", 0.0),
        ("k >= 3", 20.0),
        ("l >= 3", 4.0),
        ("t <= 0.5", 0.0),
    ],
)
def test_figures_by_hand(text: str, expected: float) -> None:
    assert nothing(text) == pytest.approx(expected, abs=1e-12)


def test_somebody_who_is_certain_before_the_release() -> None:
    assert nothing("certain_right <= 1", [0, 1, 0, 0]) == 9
    assert nothing("certain_right <= 1", [0.25] * 4) == 0


@pytest.mark.parametrize(
    "require", ["h0 >= 1.8", "true_hit(10) <= 0.7", "surprise >= 1.8", "hit(0)@p95 <= 0.4"]
)
def test_a_limit_beyond_them_is_said_to_be_so_by_every_call(require: str) -> None:
    own = people()
    result = eq.assess(own, eq.Unprotected(), require=[require])
    (found,) = result.requirements
    assert found.beyond_reach
    assert found.nothing_released == pytest.approx(nothing(found.text), abs=1e-12)
    assert "no protection is likely to meet this limit" in found.sentence
    assert "no protection is likely to meet this limit" in result.facts()["requirements"]["headline"]
    done = eq.compare(own, [eq.Unprotected(), eq.Rounding(base=20)], require=[require])
    assert not done.meets
    assert "no protection is likely to meet this limit" in done.headline
    assert all("no protection is likely" in told for told in done.reasons.values())
    best = eq.choose(own, eq.Rounding, "base", low=10, high=40, step=10, require=[require])
    assert "no protection is likely to meet this limit" in best.sentence


@pytest.mark.parametrize("require", ["h0 >= 1.7", "true_hit(10) <= 0.75", "k >= 20", "h0 <= 0.1"])
def test_nothing_is_said_about_other_limits(require: str) -> None:
    (found,) = eq.assess(people(), eq.Swapping(rate=0.5), require=[require]).requirements
    assert not found.beyond_reach
    assert "likely" not in found.sentence


def test_more_people_alike_than_there_are() -> None:
    (found,) = eq.assess(people(), eq.Unprotected(), require=["k >= 21"]).requirements
    assert "Even if everybody is alike in the known keys it is 20" in found.sentence


@pytest.mark.parametrize(
    "words",
    [
        ["assess", "--technique", "rounding:base=20"],
        ["protect", "--technique", "rounding:base=20", "--out", "p.csv"],
        ["compare", "--technique", "rounding:base=20"],
        ["choose", "--technique", "rounding:base=10..20..10"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_says_so(words: list[str], tmp_path: Path) -> None:
    pd.DataFrame({"age": [30 + at % 3 for at in range(20)], "pay": PAY}).to_csv(
        tmp_path / "people.csv", index=False
    )
    given = [words[0], "people.csv", "--confidential", "pay", "--keys", "age", *words[1:]]
    done = run_command(
        tmp_path, [*given, "--require", "true_hit(10) <= 0.7"], surroundings={"COLUMNS": "400"}
    )
    assert done.returncode == 3, done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert "Even if nothing is released it is 0.75, so no protection is likely to meet this limit." in said
    assert not (tmp_path / "p.csv").exists()
