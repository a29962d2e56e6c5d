"""Standard output in any encoding, on a full disk, and with names that a terminal would interpret."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from equivoc.cli.app import with_option_names
from equivoc.cli.main import main

CURVE = ["curve", "--values", "1,3", "--probabilities", ".5,.5"]


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["equivoc", *words])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
@pytest.mark.parametrize("words", [["curve", "--help"], ["--help"], CURVE, ["curve", "ε\udce9.csv"]])
def test_any_encoding(encoding: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding=encoding))
    expected = 2 if words[-1].endswith(".csv") else 0
    assert run(monkeypatch, *words) == expected
    sys.stderr.flush()
    written = (err if expected else out).getvalue()
    told = written.decode(encoding)  # it is in that encoding at all
    if words == CURVE:
        assert ("from ε" if encoding == "utf-8" else "from eps") in told
        assert ("│" if encoding == "utf-8" else "|") in told
        assert {"ascii": "bits x the", "utf-8": "bits × the"}.get(encoding, "bits × the") in told
    if expected:
        assert told.count("\n") == 1
        assert "\\udce9" in told


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("words", [CURVE, [*CURVE, "--json"]])
def test_a_full_disk(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "equivoc", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "equivoc: the output cannot be written: No space left on device."
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_output_that_the_reader_closes() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "equivoc", *CURVE],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


NAMES = ["[/]", "[red]age[/red]", ":warning:", "a\x1b[31mb", "a\\b"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_as_they_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    file = tmp_path / "people.csv"
    rows = "".join(f"{name},{pay}\n" for pay in (10, 20, 20, 30) for _ in range(2))
    file.write_text(f"{name},pay\n{rows}")
    options = ["--confidential", "pay", "--keys", name, "--out", str(tmp_path / "out")]
    assert run(monkeypatch, "assess", str(file), *options) == 0
    told = capsys.readouterr().out
    shown = name.replace("\x1b", "\\x1b")
    assert told.count(shown) >= 4  # known, column, value, contribution
    assert "\x1b" not in told
    assert (tmp_path / "out" / "contributions.png").read_bytes().startswith(b"\x89PNG")


def test_a_confidential_name_with_control_characters_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "pay\x1b[1m\\b"
    file = tmp_path / "people.csv"
    file.write_text(f"age\x07,{name}\n" + "30,10\n41,20\n30,30\n" * 3)
    out = tmp_path / "r.html"
    words = ["--confidential", name, "--keys", "age\x07", "--out", str(out)]
    assert run(monkeypatch, "report", str(file), *words) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert out.exists()


def test_wide_tables_become_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = [f"a_rather_long_key_{i}" for i in range(5)]
    file = tmp_path / "people.csv"
    row = ",".join(["unbreakable-value"] * 5)
    file.write_text(f"{','.join(keys)},pay\n" + f"{row},10\n{row},20\n{row},30\n")
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch, "assess", str(file), "--confidential", "pay", "--keys", ",".join(keys)) == 0
    told = capsys.readouterr().out
    for key in keys:
        assert f"{key}: unbreakable-value" in told
    monkeypatch.setenv("COLUMNS", "300")
    assert run(monkeypatch, "assess", str(file), "--confidential", "pay", "--keys", ",".join(keys)) == 0
    assert f"{keys[0]}: unbreakable-value" not in capsys.readouterr().out


def test_no_chart_without_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (3 << 30, resource.RLIM_INFINITY))
    assert run(monkeypatch, *CURVE, "--plot", str(tmp_path / "c.png")) == 2
    assert "virtual memory is limited to 3.0 GiB (ulimit -v)" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message", "told"),
    [
        (
            ["assess", "x.csv"],
            "leave these rows out with drop_missing=True",
            "leave these rows out with --drop-missing",
        ),
        (["assess", "x.csv"], "round it first (round_to).", "round it first (--round-to)."),
        (
            ["assess", "--eps", "1"],
            "eps[0] is -1; it must be 0 or more.",
            "--eps[0] is -1; it must be 0 or more.",
        ),
        (["assess"], "matching is 'x'", "matching is 'x'"),
        (["report", "--matching=x"], "matching is 'x'", "--matching is 'x'"),
        (["study", "plan.toml"], "round_to must be a number", "round_to must be a number"),
        (["curve", "--tolerance", "2"], "tolerance is 2", "--tolerance is 2"),
        ([], "anything", "anything"),
    ],
)
def test_arguments_are_named_as_options(words: list[str], message: str, told: str) -> None:
    assert with_option_names(message, words) == told


PEOPLE = "age,sex,pay\n30,F,10\n30,F,20\n30,M,20\n41,M,30\n41,M,30\n52,F,\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--keys", ""], "--keys is empty; name at least one column."),
        (["--keys", "age,"], "--keys age,: the name at position 1 is empty."),
        (["--keys", "age", "--known", ""], "give --known none"),
        (["--keys", "age", "--eps", "nan"], "--eps: 'nan' at position 0 is not a finite number."),
        (["--keys", "age", "--eps", "1,inf"], "--eps: 'inf' at position 1 is not a finite number."),
        (["--keys", "age", "--eps", "9" * 5000], "…' at position 0 is not a finite number."),
        (["--keys", "age", "--domain", f"0:{'9' * 5000}:1"], "is not a finite number."),
        (["--keys", "age", "--domain", "0:1e9:1e-9"], "has more than 1,000,000 values"),
        (["--keys", "age", "--round-to", "9" * 5000], "--round-to must be a finite number"),
        (["--keys", "age"], "with --drop-missing"),
    ],
)
def test_sentences(
    options: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    assert run(monkeypatch, "assess", str(file), "--confidential", "pay", *options) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
    assert len(told) < 400


@pytest.mark.parametrize("seed", [str(10**30), "9" * 5000, "1.5"])
def test_seeds(
    seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    words = ["--confidential", "pay", "--keys", "age", "--drop-missing", "--json", "--seed", seed]
    code = run(monkeypatch, "assess", str(file), *words)
    told = capsys.readouterr()
    if code == 0:
        assert json.loads(told.out)["seed"] == 10**30
    else:
        assert code == 2
        assert "Invalid value for '--seed'" in told.err
        assert "Traceback" not in told.err


@pytest.mark.parametrize("known", ["none", "sex"])
def test_known_none_means_no_key(
    known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    words = ["--confidential", "pay", "--keys", "age,sex", "--drop-missing", "--json", "--known", known]
    assert run(monkeypatch, "assess", str(file), *words) == 0
    assert json.loads(capsys.readouterr().out)["known"] == ([] if known == "none" else [known])


def test_a_key_called_none_is_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("none,pay\n1,10\n2,20\n")
    words = ["--confidential", "pay", "--keys", "none", "--json", "--known", "none"]
    assert run(monkeypatch, "assess", str(file), *words) == 0
    assert json.loads(capsys.readouterr().out)["known"] == ["none"]
