"""``equivoc table`` with --suppress, --round and --redesign: what it prints, writes and refuses."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main
from tests.report.conftest import FORMULA, HOSTILE

SALES = [5003, 107, 2011, 1801, 1603, 1409, 2203, 1907, 3001, 2609, 2411, 2801]
COMMAND = "people.csv --by region,branch --value sales"
SUPPRESSED = f"{COMMAND} --rule dominance:n=1,k=90 --suppress"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    write_people(["n", "s", "e"])


def write_people(regions: list[str]) -> None:
    frame = pd.DataFrame(
        {
            "region": [region for region in regions for _ in range(4)],
            "branch": list("aabb") * 3,
            "firm": ["f", "g"] * 6,
            "sales": SALES,
        }
    )
    frame.to_csv("people.csv", index=False)


def run(monkeypatch: pytest.MonkeyPatch, command: str) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", "table", *command.split()])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def facts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> dict[str, Any]:
    run(monkeypatch, f"{command} --json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_suppression_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, SUPPRESSED) == 0
    told = capsys.readouterr().out
    assert "12 cells of totals of sales by region, branch; 4 withheld." in told
    assert "None of 4 withheld cells can be computed exactly" in told
    assert "│ n      │  8,922 │ x unsafe │      x │" in told
    assert "5,110" not in told  # n, a
    assert run(monkeypatch, f"{SUPPRESSED} --record-values") == 0
    assert "x (true: 5,110) unsafe" in capsys.readouterr().out


def test_the_released_file_can_be_audited(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = facts(monkeypatch, capsys, f"{SUPPRESSED} --out made")
    assert {file.name for file in Path("made").iterdir()} == {"released.csv", "report.html"}
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in Path("made").iterdir())
    released = pd.read_csv("made/released.csv")
    assert list(released.columns) == ["region", "branch", "value"]
    assert int(released["value"].isna().sum()) == 4
    assert "5110" not in Path("made/released.csv").read_text()
    audited = facts(monkeypatch, capsys, "--audit made/released.csv --by region,branch")
    own = {tuple(row["categories"]): (row["low"], row["high"]) for row in found["assessed"]}
    for row in audited["intervals"]:
        assert (row["low"], row["high"]) == pytest.approx(own[tuple(row["categories"])])


def test_rounding(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(monkeypatch, capsys, f"{COMMAND} --round 500 --method controlled --rule p:10")
    values = {tuple(cell["categories"]): cell["value"] for cell in found["cells"]}
    assert all(value % 500 == 0 for value in values.values())
    for region in ("n", "s", "e"):
        assert values[region, None] == values[region, "a"] + values[region, "b"]
    assert [cell["categories"] for cell in found["cells"] if cell["unsafe"]]
    first = [
        facts(monkeypatch, capsys, f"{COMMAND} --round 500 --method random --seed 3")["cells"]
        for _ in range(2)
    ]
    assert first[0] == first[1]


def test_methods_are_compared(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{COMMAND} --rule dominance:n=1,k=90 --compare unprotected|suppress|round:500,controlled"

    def compared(*more: str) -> int:
        monkeypatch.setattr(sys, "argv", ["equivoc", "table", *command.split(), *more])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0)

    assert compared("--require", "certain_right <= 0", "--out", "made", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    people = eq.read("people.csv", confidential="sales", keys=["region", "branch"])
    table = eq.tabulate(people, by=["region", "branch"], value="sales")
    own = eq.compare(
        table,
        [
            eq.Unprotected(),
            eq.CellSuppression(rule=eq.Dominance(n=1, k=90)),
            eq.CellRounding(500, "controlled"),
        ],
        require=["certain_right <= 0"],
    )
    assert [each["loss"] for each in found["methods"]] == pytest.approx([c.loss.mean for c in own.compared])
    assert found["choice"] == own.chosen.notation
    assert [each["meets"] for each in found["methods"]] == [each.meets for each in own.compared]
    assert not found["methods"][0]["meets"]
    assert pd.read_csv("made/comparison.csv")["technique"].tolist() == own.frame["technique"].tolist()
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in Path("made").iterdir())
    assert compared("--require", "hit(5000) <= 0.01") == 3
    assert "None of 3 techniques meets every requirement." in capsys.readouterr().out
    assert run(monkeypatch, f"{COMMAND} --compare suppress") == 2
    assert "give --rule" in capsys.readouterr().err
    assert run(monkeypatch, f"{COMMAND} --compare round:x") == 2
    assert "'x' is not a number" in capsys.readouterr().err
    assert run(monkeypatch, f"{COMMAND} --compare roundly:5") == 2
    assert "--compare holds 'roundly:5'" in capsys.readouterr().err
    assert run(monkeypatch, f"{COMMAND} --compare round:5 --round 5") == 2
    assert "--compare names the methods" in capsys.readouterr().err


def test_the_mildest_setting_is_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def chosen(*more: str) -> int:
        monkeypatch.setattr(sys, "argv", ["equivoc", "table", *COMMAND.split(), *more])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0)

    people = eq.read("people.csv", confidential="sales", keys=["region", "branch"])
    table = eq.tabulate(people, by=["region", "branch"], value="sales")
    require = ["--require", "hit(500) <= 0.55"]
    assert chosen("--choose", "round:500..4000..500,controlled", *require, "--out", "made", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    method = eq.CellRounding(method="controlled")
    own = eq.choose(table, method, low=500, high=4000, step=500, require=["hit(500) <= 0.55"])
    assert (found["value"], found["sentence"], found["meets"]) == (own.value, own.sentence, True)
    assert 500 < found["value"] < 4000
    assert [each["value"] for each in found["tried"]] == own.tried["base"].tolist()
    assert pd.read_csv("made/tried.csv")["meets"].tolist() == own.tried["meets"].tolist()
    assert chosen("--choose", "round:1..2", "--require", "hit(500) <= 0.01") == 3
    assert "No setting that was tried meets the requirements" in capsys.readouterr().out
    for wrong, sentence in (
        ("round:5", "--choose is 'round:5'; give round:5..60"),
        ("round:a..b", "--choose is 'round:a..b'"),
        ("suppress:5..9,controlled", "--choose is 'suppress:5..9,controlled'"),
        ("round:9..1", "low must not be above high"),
        ("round:1..9,wrongly", "method is 'wrongly'"),
        ("round:nan..9", "low is nan"),
        ("noisy:0.1..1", "noisy cells are for tables of counts"),
    ):
        assert chosen("--choose", wrong, *require) == 2
        assert sentence in capsys.readouterr().err
    assert chosen("--choose", "round:5..9") == 2
    assert "no requirement is given" in capsys.readouterr().err
    assert chosen("--choose", "round:5..9", "--compare", "round:5", *require) == 2
    assert "--compare names the methods: leave --choose out" in capsys.readouterr().err
    assert chosen("--choose", "round:5..9", "--round", "5", *require) == 2
    assert "--choose names the method" in capsys.readouterr().err
    assert chosen("--choose", "suppress:5..9", "--rule", "p:10", *require) == 2
    assert "leave --rule out" in capsys.readouterr().err


def test_noisy_counts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    counted = "people.csv --by region,branch --confidential sales"
    found = facts(monkeypatch, capsys, f"{counted} --noisy 1 --seed 4 --out made")
    values = {tuple(cell["categories"]): cell["value"] for cell in found["cells"]}
    assert values["n", None] == values["n", "a"] + values["n", "b"]
    # Every inner count is 2; noise of another seed is other noise, and of a huge budget none.
    assert {value for (one, other), value in values.items() if one and other} != {2.0}
    assert facts(monkeypatch, capsys, f"{counted} --noisy 1 --seed 5")["cells"] != found["cells"]
    exact = facts(monkeypatch, capsys, f"{counted} --noisy 60 --public-categories")
    assert {cell["value"] for cell in exact["cells"] if None not in cell["categories"]} == {2.0}
    assert "ε = 60" in exact["method"]
    assert not any("No differential privacy" in note for note in exact["notes"])
    assert any("No differential privacy" in note for note in found["notes"])
    released = pd.read_csv("made/released.csv")
    assert released["value"].tolist() == [cell["value"] for cell in found["cells"]]
    assert run(monkeypatch, f"{counted} --noisy 0") == 2
    assert run(monkeypatch, f"{COMMAND} --noisy 1") == 2
    assert run(monkeypatch, f"{counted} --round 5 --public-categories") == 2
    told = capsys.readouterr().err
    assert "epsilon" in told
    assert "--public-categories belongs to --noisy" in told


def test_redesign(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Path("region.csv").write_text("n;west\ns;west\ne;east\n")
    command = f"{COMMAND} --rule dominance:n=1,k=90 --redesign --hierarchies region:region.csv"
    found = facts(monkeypatch, capsys, command)
    values = {tuple(cell["categories"]): cell["value"] for cell in found["cells"]}
    assert values["west", "a"] == 5003 + 107 + 1603 + 1409
    assert "cells_lost" in {row["measure"] for row in found["utility"]}
    assert run(monkeypatch, f"{command} --contributors firm") == 0
    capsys.readouterr()


def test_the_exit_code_is_3_if_a_requirement_is_not_met(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["equivoc", "table", *SUPPRESSED.split(), "--require", "certain_right <= 0"]
    )
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    assert "Yes, under this requirement it may be published." in capsys.readouterr().out
    monkeypatch.setattr(
        sys, "argv", ["equivoc", "table", *SUPPRESSED.split(), "--require", "hit(5000) <= 0.1"]
    )
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 3
    assert "No, under this requirement it may not be published." in capsys.readouterr().out


def test_hostile_labels(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    write_people([HOSTILE, FORMULA, "\x1b[31m" + "y" * 10_000])
    assert run(monkeypatch, f"{SUPPRESSED} --out made") == 0
    told = capsys.readouterr().out
    assert "\x1b[31m" not in told
    assert f"'{FORMULA}" in Path("made/released.csv").read_text()
    assert HOSTILE not in Path("made/report.html").read_text()


def test_an_output_is_never_an_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("made").mkdir()
    before = Path("people.csv").read_bytes()
    Path("people.csv").rename("made/released.csv")
    assert run(monkeypatch, SUPPRESSED.replace("people.csv", "made/released.csv") + " --out made") == 2
    assert "it is also an input" in capsys.readouterr().err
    assert Path("made/released.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--suppress", "--suppress needs to know which cells are unsafe"),
        ("--redesign --rule p:10", "give --hierarchies"),
        ("--suppress --round 5 --rule p:10", "--suppress and --round are different methods"),
        ("--round 0", "base"),
        ("--round 5 --method nearest", "method"),
        ("--round 5 --seed 1", "--seed is for random rounding"),
        ("--round 5 --cost equal", "--cost belongs to --suppress"),
        ("--suppress --rule p:10 --cost weight", "cost is 'weight'"),
        ("--suppress --rule p:10 --time-limit -1", "--time-limit is -1"),
        ("--suppress --rule p:10 --method random", "--method belongs to --round"),
        ("--require h0>=1", "--require is about a protected table"),
        ("--round 5 --require nonsense", "nonsense"),
        ("--round 5 --eps x", "--eps"),
    ],
)
def test_what_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: str, sentence: str
) -> None:
    assert run(monkeypatch, f"{COMMAND} {options} --out made") == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert not told.out
    assert not Path("made").exists()


def test_a_cell_that_cannot_be_protected_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.DataFrame({"region": ["n"], "sales": [7]}).to_csv("people.csv", index=False)
    assert run(monkeypatch, "people.csv --by region --value sales --rule threshold:3 --suppress") in (0, 2)
    told = capsys.readouterr()
    assert told.err.count("\n") <= 1
    assert " 7 " not in told.out


def test_a_released_table_cannot_be_protected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--audit people.csv --by region --value sales --round 5") == 2
    assert "has no use for --suppress, --round, --redesign or --noisy" in capsys.readouterr().err


def test_values_of_any_size(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """At 1e31 HiGHS ended in a traceback; totals that cannot be multiplied any more are refused."""
    plain = pd.read_csv("people.csv")
    assert run(monkeypatch, f"{SUPPRESSED} --json") == 0
    withheld = json.loads(capsys.readouterr().out)["counts"]["withheld"]
    plain.assign(sales=plain["sales"] * 1e31).to_csv("people.csv", index=False)
    assert run(monkeypatch, f"{SUPPRESSED} --json") == 0
    assert json.loads(capsys.readouterr().out)["counts"]["withheld"] == withheld
    plain.assign(sales=plain["sales"] * 5e303).to_csv("people.csv", index=False)
    assert run(monkeypatch, f"{SUPPRESSED} --out made") == 2
    said = capsys.readouterr()
    assert "holds '2.5015e+307', which is larger than 1e+150, the most that is measured" in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not Path("made").exists()
