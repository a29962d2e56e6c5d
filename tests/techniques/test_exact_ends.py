"""An end of the domain that one or two people have is said to be shown exactly, wherever notes are shown."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from tests.commands import run_command

PAY = [*[10, 20, 30, 40] * 5, 5000]
END = "The largest value of pay is that of one or two people"
LIMIT = "The limit 5000 is the value of pay of one or two people"


def people(pay: list[float], **more: object) -> eq.Microdata:
    frame = pd.DataFrame({"sex": (["F", "M"] * len(pay))[: len(pay)], "pay": pay})
    return eq.Microdata(frame, confidential="pay", keys=["sex"], **more)  # type: ignore[arg-type]


TECHNIQUES = [
    (eq.NoiseAddition(40), END),
    (eq.NoiseAddition(40, edge="wrap"), END),
    (eq.NoiseAddition(40, edge="extend"), END),  # no even grid: clipped
    (eq.NoiseAddition(40, belief="interval"), END),
    (eq.Swapping(rate=1, window=30), END),
    (eq.PRAM(keep=0.5, on="confidential"), END),
    (eq.TopBottomCoding(high=5000), LIMIT),
    (eq.TopBottomCoding(high=6000), END),
]


@pytest.mark.parametrize(("technique", "told"), TECHNIQUES)
@pytest.mark.parametrize("few", [1, 2])
def test_it_is_shown_and_said(technique: eq.techniques.Technique, told: str, few: int) -> None:
    held = people([*PAY, 5000][: len(PAY) + few - 1])
    result = eq.assess(held, technique, seed=3)
    assert [note.startswith(told) for note in result.notes if "one or two" in note] == [True]
    shown = [max(eq.assess(held, technique, seed=seed).release.table["pay"]) for seed in range(8)]
    assert 5000 in shown  # the remark is right


@pytest.mark.parametrize(("technique", "told"), TECHNIQUES)
def test_not_of_three_people_nor_of_nobody(technique: eq.techniques.Technique, told: str) -> None:
    assert not [
        note for note in eq.assess(people([*PAY, 5000, 5000]), technique, seed=3).notes if "one or" in note
    ]
    wider = people([10, 20, 30, 40] * 5, domain=[0, 10, 20, 30, 40, 50, 7000])
    if not isinstance(technique, eq.TopBottomCoding) and technique.name != "swapping":
        assert not [note for note in eq.assess(wider, technique, seed=3).notes if "one or" in note]


def test_where_there_is_no_end() -> None:
    even = people([10, 20, 30, 40])
    assert not eq.assess(even, eq.NoiseAddition(40, edge="extend"), seed=3).notes
    assert not eq.assess(even, eq.Swapping(rate=1), seed=3).notes
    assert not eq.assess(people(PAY), eq.TopBottomCoding(high=35), seed=3).notes
    assert not eq.assess(people(PAY), eq.Rounding(base=100), seed=3).notes
    words = eq.Microdata(pd.DataFrame({"a": list("xyz")}), confidential="a", keys=[])
    assert not eq.assess(words, eq.PRAM(keep=0.5, on="confidential"), seed=3).notes


def test_keys_have_ends_too() -> None:
    frame = pd.DataFrame({"age": [20, 20, 20, 30, 30, 97], "pay": [10, 10, 10, 20, 20, 20]})
    held = eq.Microdata(frame, confidential="pay", keys=["age"])
    notes = eq.assess(held, eq.NoiseAddition(40), seed=1).notes
    assert [note.partition(":")[0] for note in notes] == [
        "The largest value of age is that of one or two people"
    ]


@pytest.mark.parametrize("command", ["assess", "report", "protect"])
def test_in_every_command(tmp_path: Path, command: str) -> None:
    pd.DataFrame({"sex": ["F", "M", "M"] * 7, "pay": PAY}).to_csv(tmp_path / "people.csv", index=False)
    words = [
        "people.csv",
        "--confidential",
        "pay",
        "--keys",
        "sex",
        "--technique",
        "noise-addition:percent=40",
    ]
    more = {"assess": ["--json"], "report": ["--out", "r.html"], "protect": ["--out", "p.csv"]}[command]
    ran = run_command(tmp_path, [command, *words, *more])
    assert ran.returncode == 0, ran.stderr
    told = (tmp_path / "r.html").read_text() if command == "report" else ran.stdout + ran.stderr
    assert END in told
    assert "5000" not in "".join(line for line in told.splitlines() if END in line and command != "report")
