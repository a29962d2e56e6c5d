"""``--require``: the result is printed, and then the exit code says whether the release may be published."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.cli.main import main

COMMON = ["--confidential", "pay", "--keys", "age,sex", "--technique", "generalisation:k=4"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(6)
    path = tmp_path / "people.csv"
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 200),
            "sex": rng.choice(["F", "M"], 200),
            "pay": rng.integers(1, 30, 200) * 10,
            "ill": rng.choice(["flu", "gout", "none"], 200),
        }
    )
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def truth(file: Path) -> float:
    """true_hit(50) of the release, from the share of right guesses of each person."""
    people = eq.read(file, confidential="pay", keys=["age", "sex"])
    return float(eq.assess(people, eq.Generalisation(k=4), eps=[50]).records["true_hit_50"].mean())


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", *map(str, words)])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


@pytest.mark.parametrize("command", ["assess", "report"])
def test_a_thousandth_flips_the_exit_code(
    command: str, file: Path, truth: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for limit, code in ((truth - 0.001, 3), (truth, 0), (truth + 0.001, 0)):
        assert run(monkeypatch, command, file, *COMMON, "--require", f"true_hit(50) <= {limit!r}") == code


def test_the_result_is_printed_first(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--require", "true_hit(50) <= 0.1", "--require", "k >= 4", "--require", "h0@worst >= 20"]
    assert run(monkeypatch, "assess", file, *COMMON, *asked) == 3
    told = capsys.readouterr()
    assert "No, under these requirements it may not be published. true_hit(50) <= 0.1 is not met" in told.out
    assert "1 more is not met." in told.out
    assert "H0, bits" in told.out
    assert "The release takes away" in told.out  # the last sentence
    assert "h0@worst >= 20" in told.out
    assert told.err == ""


def test_json_has_the_requirements(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--require", "true_hit(50) <= 0.1", "--require", "k >= 4"]
    assert run(monkeypatch, "assess", file, *COMMON, *asked, "--json") == 3
    told = json.loads(capsys.readouterr().out)
    assert told["requirements"]["meets"] is False
    assert [row["meets"] for row in told["requirements"]["rows"]] == [False, True]
    assert told["summary"]["requirements"] == told["requirements"]["rows"]
    row = told["requirements"]["rows"][0]
    assert row["missed_by"] == pytest.approx(row["value"] - 0.1)
    assert run(monkeypatch, "assess", file, *COMMON, "--json") == 0
    assert json.loads(capsys.readouterr().out)["requirements"] is None


def test_several_attributes_are_one_release(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--confidential", "pay,ill", "--keys", "age,sex", "--technique", "generalisation:k=4"]
    asked = [*words, "--require", "hit(0) <= 0.5"]
    assert run(monkeypatch, "assess", file, *asked, "--json") == 3
    told = json.loads(capsys.readouterr().out)
    assert {row["attribute"]: row["meets"] for row in told["requirements"]["rows"]} == {
        "pay": True,
        "ill": False,
    }
    for facts in told["attributes"].values():
        assert facts["verdict"]["headline"].startswith("No, under these requirements")
        assert "For ill, hit(0) <= 0.5 is not met" in facts["verdict"]["headline"]
    page = tmp_path / "r.html"
    assert run(monkeypatch, "report", file, *asked, "--out", page) == 3
    assert "may not be published" in (tmp_path / "r-pay.html").read_text(encoding="utf-8")
    assert run(monkeypatch, "assess", file, *words, "--require", "hit(0) <= 1") == 0


def test_the_report_is_written_before_the_exit(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, facts = tmp_path / "r.html", tmp_path / "facts.json"
    asked = ["--require", "certain_right <= 0", "--require", "h0 >= 20", "--out", out, "--json", facts]
    assert run(monkeypatch, "report", file, *COMMON, *asked) == 3
    told = capsys.readouterr().out
    assert "No, under these requirements it may not be published. h0 >= 20 is not met" in told
    assert f"The report is in {out}." in told
    assert "No, under these requirements it may not be published." in out.read_text(encoding="utf-8")
    assert json.loads(facts.read_text(encoding="utf-8"))["requirements"]["meets"] is False


def test_a_released_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(file)
    released = tmp_path / "released.csv"
    frame.assign(age=frame["age"] // 10 * 10).to_csv(released, index=False)
    k = int(frame.groupby([frame["age"] // 10, "sex"]).size().min())
    words = ["--confidential", "pay", "--keys", "age,sex", "--release", released]
    assert run(monkeypatch, "assess", file, *words, "--require", f"k >= {k}") == 0
    assert run(monkeypatch, "assess", file, *words, "--require", f"k >= {k + 1}") == 3
    assert f"it is {k}, which is 1 too little" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["true_hit(5000) < 0.2"], "character 16"),
        (["true_hits <= 0.2"], "did you mean 'true_hit'?"),
        (["hit(-1) <= 0.2"], "it must be 0 or more"),
        (["h0 >= nan"], "finite number"),
        ([""], "character 1"),
        (["h0 >= 2", "h0 <= 1"], "contradict each other"),
        (["hit >= 0.9", "hit(20) <= 0.1"], "contradict each other"),
        (["true_hit <= -0.1"], "no release can meet"),
    ],
)
@pytest.mark.parametrize("command", ["assess", "report"])
def test_mistakes_are_one_sentence(
    command: str,
    asked: list[str],
    says: str,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [word for text in asked for word in ("--require", text)]
    assert run(monkeypatch, command, file, *COMMON, "--eps", "0,20", *words) == 2
    told = capsys.readouterr()
    assert says in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(("limit", "code"), [(0, 3), (1, 0)])
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_a_reader_that_stops_does_not_hide_the_exit_code(
    limit: int, code: int, more: list[str], file: Path
) -> None:
    words = [sys.executable, "-m", "equivoc", "assess", str(file), *COMMON, *more]
    with subprocess.Popen(
        [*words, "--require", f"hit(50) <= {limit}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.wait() == code
        assert running.stderr is not None
        assert running.stderr.read() == b""
