"""``equivoc table``: what it prints and writes, against pandas; what it refuses."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from equivoc.cli.main import main

PEOPLE = """region,sex,salary,firm,agreed,weight
n,F,10,a,no,2
n,F,12,a,no,1
n,M,100,b,yes,1
n,M,3,c,no,1
n,M,9,d,no,1
s,F,50,a,no,1
s,F,55,e,no,1
s,F,54,f,no,1
s,M,7,g,no,3
"""
RELEASED = "region,sex,total\nn,F,x\nn,M,x\nn,,25\ns,F,x\ns,M,x\ns,,60\n,F,30\n,M,55\n,,85\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("people.csv").write_text(PEOPLE)
    Path("released.csv").write_text(RELEASED)


def run(monkeypatch: pytest.MonkeyPatch, command: str) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", "table", *command.split()])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def facts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> dict[str, Any]:
    assert run(monkeypatch, f"{command} --json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def cell(found: dict[str, Any], *categories: str | None) -> dict[str, Any]:
    return next(c for c in found["cells"] if c["categories"] == list(categories))


def test_unsafe_cells_are_marked_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "people.csv --confidential salary --keys region,sex --by region,sex --value salary --rule p:10"
    assert run(monkeypatch, f"{command} --rule threshold:3") == 0
    told = capsys.readouterr().out
    assert "3 cells are unsafe by p:10 or threshold:3." in told
    assert "│ n      │   134 │ unsafe │ unsafe │" in told
    assert "withheld" in told
    assert "112" not in told  # n, M
    assert run(monkeypatch, f"{command} --record-values") == 0
    assert "│ n      │   134 │ 22 unsafe │ 112 unsafe │" in capsys.readouterr().out


def test_json_against_pandas(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(
        monkeypatch, capsys, "people.csv --by region,sex --value salary --rule p:10 --record-values"
    )
    frame = pd.read_csv("people.csv")
    for (region, sex), rows in frame.groupby(["region", "sex"])["salary"]:
        ordered = sorted(rows, reverse=True)
        here = cell(found, region, sex)
        assert here["value"] == sum(rows)
        assert here["people"] == len(rows)
        assert bool(here["why"]) == (sum(ordered[2:]) < 0.1 * ordered[0])
    assert cell(found, None, None)["value"] == frame["salary"].sum()


def test_holdings_waivers_weights_and_subtotals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("region.csv").write_text("n;land\ns;land\n")
    command = "people.csv --by region,sex --value salary --record-values --rule p:10"
    held = facts(monkeypatch, capsys, f"{command} --contributors firm")
    assert cell(held, "n", "F")["people"] == 1
    assert cell(held, None, "F")["people"] == 3
    assert cell(held, None, None)["people"] == 7
    agreed = facts(monkeypatch, capsys, f"{command} --waiver agreed")
    assert cell(held, "n", "M")["why"]
    assert not cell(agreed, "n", "M")["why"]
    weighted = facts(monkeypatch, capsys, f"{command} --weights weight")
    assert cell(weighted, "n", "F")["value"] == 32
    assert cell(weighted, "n", "F")["people"] == 2
    nested = facts(monkeypatch, capsys, f"{command} --hierarchies region:region.csv")
    assert cell(nested, "land", "M")["value"] == 119


def test_files_belong_to_their_owner(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "people.csv --by region,sex --value salary --rule p:10 --out made"
    assert run(monkeypatch, f"{command} --record-values") == 0
    assert {file.name for file in Path("made").iterdir()} == {"table.csv", "unsafe.csv"}
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in Path("made").iterdir())
    frame = pd.read_csv("made/table.csv")
    assert frame[frame["region"].isna() & frame["sex"].isna()]["value"].tolist() == [300]
    assert pd.read_csv("made/unsafe.csv")["protection"].tolist() == pytest.approx([1.2, 7, 0.7])
    capsys.readouterr()
    found = facts(monkeypatch, capsys, "--audit made/table.csv --by region,sex --rule p:10")
    assert [row["categories"] for row in found["unsafe_published"]] == [["n", "F"], ["n", "M"], ["s", "M"]]
    # Without --record-values, the values of these three cells and all contributions stay out.
    assert run(monkeypatch, command) == 0
    shown = pd.read_csv("made/table.csv")
    assert list(shown) == ["region", "sex", "value", "people"]
    hidden = shown[shown["value"].isna()]
    assert hidden[["region", "sex"]].to_numpy().tolist() == [["n", "F"], ["n", "M"], ["s", "M"]]
    assert list(pd.read_csv("made/unsafe.csv")) == ["region", "sex", "people", "why"]


def test_counts_show_small_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "people.csv --by region,sex --confidential salary --rule threshold:2") == 0
    told = capsys.readouterr().out
    assert "│ s      │     4 │ 3 │ 1 unsafe │" in told
    assert "1 cell is unsafe by threshold:2." in told


def test_the_intervals_of_a_released_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows 25 and 60, columns 30 and 55: n, F is 0 to 25; the others follow from it."""
    command = "--audit released.csv --by region,sex --value total"
    found = facts(monkeypatch, capsys, f"{command} --out made")
    intervals = {tuple(row["categories"]): (row["low"], row["high"]) for row in found["intervals"]}
    assert intervals == {("n", "F"): (0, 25), ("n", "M"): (0, 25), ("s", "F"): (5, 30), ("s", "M"): (30, 55)}
    assert found["disclosed"] == 0
    assert pd.read_csv("made/intervals.csv")["high"].tolist() == [25, 25, 30, 55]
    Path("released.csv").write_text(RELEASED.replace("s,F,x", "s,F,20"))
    assert run(monkeypatch, command) == 0
    told = capsys.readouterr().out
    assert "3 of 3 suppressed cells can be computed exactly" in told
    assert told.count("disclosed") == 3


def test_nothing_in_a_label_is_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text('region,salary\n=1+1,5\n[red]x[/red],6\n\x1b[31m,7\n"a\nb",8\n,9\n')
    assert run(monkeypatch, "people.csv --by region --value salary --record-values --out made") == 0
    told = capsys.readouterr().out
    assert "[red]x[/red]" in told
    assert "\x1b[31m" not in told
    assert "(missing)" in told
    assert "'=1+1" in Path("made/table.csv").read_text()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("people.csv", "--by is missing"),
        ("--by region", "there is no table"),
        ("people.csv --by region", "--confidential is missing"),
        (
            "people.csv --by regoin --value salary",
            "'regoin' is not a column of the table: did you mean 'region'",
        ),
        ("people.csv --by region --keys region --value salary --waiver agreed", "is not a key"),
        ("people.csv --by region --value salary --rule q:1", "the rule 'q:1' has an unknown name"),
        ("people.csv --by region --confidential salary --rule p:10", "counts people, and the p % rule"),
        ("people.csv --by region --value sex", "'sex', which holds categories"),
        ("people.csv --by region --value salary --hierarchies region:none.csv", "there is no file none.csv"),
        ("people.csv --by region --value salary --hierarchies nowhere", "--hierarchies are 'nowhere'"),
        ("people.csv --by region,sex,firm,agreed,weight --value salary", "by has 5 columns"),
        ("people.csv --by region --value salary --counts", "--counts is about a released table"),
        ("people.csv --audit released.csv --by region", "has no use for a file of people"),
        ("--audit released.csv --by region,sex", "the table has no column 'value'"),
        ("--audit released.csv --by region --value total", "is in the table twice"),
        ("--audit released.csv --by region,sex --value total --rule p:10", "does not say what its largest"),
        (
            "--audit released.csv --by region,sex --value total --margin All",
            "or --missing-margins if they were not",
        ),
        ("--audit none.csv --by region", "there is no file none.csv"),
        ("people.csv --by region --value salary --out people.csv", "people.csv is a file; give a folder"),
        ("--audit table.csv --by region,sex --value total --out .", "there is no file table.csv"),
    ],
)
def test_what_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, sentence: str
) -> None:
    assert run(monkeypatch, command) == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert not told.out


def test_margins_that_do_not_add_up_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("released.csv").write_text(RELEASED.replace(",,85", ",,99"))
    assert run(monkeypatch, "--audit released.csv --by region,sex --value total") == 2
    told = capsys.readouterr().err
    assert "the margin region = *, sex = * is 99, but its parts over 'region' add up to 85" in told
    assert "a difference of -14" in told


def test_an_output_is_never_an_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("made").mkdir()
    Path("made/table.csv").write_text(PEOPLE)
    assert run(monkeypatch, "made/table.csv --by region --value salary --out made") == 2
    assert "it is also an input" in capsys.readouterr().err
    assert Path("made/table.csv").read_text() == PEOPLE
