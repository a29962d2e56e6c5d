"""equivoc curve: what it prints, draws and refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import equivoc as eq
from equivoc.cli.app import app
from equivoc.cli.main import main

WORKED = ["--values", "1,3,8,9", "--probabilities", ".15,.1,.7,.05"]
LINES = "1,.15\n3,.1\n8,.7\n9,.05\n"


def run(*arguments: str, stdin: str | None = None) -> str:
    """Standard output of a command that succeeds."""
    result = CliRunner().invoke(app, list(arguments), input=stdin, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stderr == ""
    return result.stdout


@pytest.fixture
def mistake(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The one line on standard error of a command that ends with exit code 2 and prints nothing else."""

    def ends_badly(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["equivoc", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "Traceback" not in printed.err
        assert printed.err.endswith("\n")
        return printed.err[:-1]

    return ends_badly


def test_tables() -> None:
    text = run("curve", *WORKED)
    for fact in ("H0    1.319 bits", "area  6.514 bits", "ε_max 8", "exact"):
        assert fact in text
    for row in (
        ("0", "1.319", "0.70"),
        ("2", "0.8113", "0.75"),
        ("7", "0.2864", "0.95"),
        ("8", "0", "1.00"),
    ):
        cells = [
            [c.strip() for c in line.strip("│ ").split("│")] for line in text.splitlines() if "│" in line
        ]
        assert list(row) in cells


def test_json() -> None:
    facts = json.loads(run("curve", *WORKED, "--json", "--at", "2.5,7", "--at", "2.5,6"))
    c = eq.curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
    assert facts["h0_bits"] == c.h0
    assert facts["area"] == c.area
    assert facts["area_bounds"] == list(c.area_bounds)
    assert facts["eps_max"] == 8.0
    assert facts["epsilons"] == [0, 1, 2, 6, 7, 8]
    assert facts["entropies_bits"] == c.entropies.tolist()
    assert [a["eps"] for a in facts["at"]] == [2.5, 6]
    assert facts["at"][0]["entropy_bits"] == pytest.approx(0.8112781)
    assert facts["at"][0]["hit_rate"] == pytest.approx(0.75)


def test_json_certified(tmp_path: Path) -> None:
    n = 1200
    posterior = tmp_path / "posterior.csv"
    posterior.write_text("".join(f"{(i * i % 9973) / 7!r},{1 / n!r}\n" for i in range(n)))
    facts = json.loads(run("curve", str(posterior), "--json", "--tolerance", "1e-2"))
    exact = json.loads(run("curve", str(posterior), "--json"))["area"]
    low, high = facts["area_bounds"]
    assert low <= exact <= high
    assert 0 < high - low <= 1e-2 * low
    assert "certified between" in run("curve", str(posterior), "--tolerance", "1e-2")


@pytest.mark.parametrize("header", ["", "value,probability\n", "\ufeffvalue,probability\n"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_csv_with_and_without_header(tmp_path: Path, header: str, ending: str) -> None:
    file = tmp_path / "posterior.csv"
    file.write_bytes((header + LINES + "\n").replace("\n", ending).encode())
    assert run("curve", str(file), "--json") == run("curve", *WORKED, "--json")


@pytest.mark.parametrize("header", ["", "value,probability\n"])
def test_standard_input(header: str) -> None:
    assert run("curve", "-", "--json", stdin=header + LINES) == run("curve", *WORKED, "--json")


def test_negative_values() -> None:
    facts = json.loads(run("curve", "--values", "-3,-1", "--probabilities", ".5,.5", "--json"))
    assert facts["area"] == 2.0


def test_long_curves_are_shortened_and_say_so(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("".join(f"{v},0.01\n" for v in range(100)))
    text = run("curve", str(file))
    assert len(text.splitlines()) < 60
    assert "break points shown" in text


@pytest.mark.parametrize(
    ("name", "begins"), [("c.png", b"\x89PNG\r\n\x1a\n"), ("c.svg", b"<svg"), ("c.PNG", b"\x89PNG")]
)
def test_picture(tmp_path: Path, name: str, begins: bytes) -> None:
    file = tmp_path / name
    said = run("curve", *WORKED, "--plot", str(file))
    drawn = file.read_bytes()
    assert drawn.startswith(begins)
    assert len(drawn) > 2000
    assert name in said.replace("\n", "")


def test_the_picture_shows_the_curve() -> None:
    chart = eq.curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05]).plot().to_dict()
    [rows] = chart["datasets"].values()
    points = [(row["eps"], round(row["bits"], 3)) for row in rows]
    assert points[:-1] == [(0, 1.319), (1, 1.054), (2, 0.811), (6, 0.61), (7, 0.286), (8, 0.0)]
    assert points[-1][0] > 8
    assert chart["mark"]["interpolate"] == "step-after"


BAD_ARGUMENTS = [
    (["--values", "1,2"], ["--probabilities"]),
    ([], ["CSV", "--values"]),
    (["--values", "1,x", "--probabilities", ".5,.5"], ["--values", "'x'", "position 1"]),
    (["--values", "1,2", "--probabilities", ".5,,"], ["--probabilities", "''", "position 1"]),
    (["--values", "1,2", "--probabilities", ".5,.4"], ["probabilities", "0.9"]),
    (["--values", "1,2", "--probabilities", "1.5,-.5"], ["probabilities[1]", "-0.5"]),
    (["--values", "1,nan", "--probabilities", ".5,.5"], ["--values", "'nan' at position 1"]),
    (["--values", "1,2,3", "--probabilities", ".5,.5"], ["values", "3", "probabilities", "2"]),
    ([*WORKED, "--at", "1,-2"], ["-2"]),
    ([*WORKED, "--at", "1,two"], ["--at", "'two'", "position 1"]),
    ([*WORKED, "--tolerance", "1.5"], ["tolerance", "1.5"]),
    (["no-such-file.csv"], ["no-such-file.csv", "there is no file"]),
    (["no-such-file.csv", *WORKED], ["either a file or"]),
]


@pytest.mark.parametrize(("arguments", "names"), BAD_ARGUMENTS, ids=str)
def test_mistakes(
    mistake: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    names: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    said = mistake("curve", *arguments, "--plot", "out.png", "--json")
    assert said.startswith("equivoc: ")
    assert "\n" not in said
    for name in names:
        assert name in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"1,.5\n2,x\n", ["line 2", "2,x"]),
        (b"1,.5,3\n", ["line 1", "3 columns"]),
        (b"1,.5\n\n2\n", ["line 3", "1 columns"]),
        (b"", ["no pair"]),
        (b"value,probability\n", ["no pair"]),
        (b"\xff\xfe\x00\x01", ["not a text file"]),
        (b"1,.5\n2,inf\n", ["probabilities[1]", "inf"]),
    ],
    ids=str,
)
def test_unusable_files(
    mistake: Callable[..., str], tmp_path: Path, content: bytes, names: list[str]
) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(content)
    said = mistake("curve", str(file))
    assert said.startswith("equivoc: ")
    assert "\n" not in said
    for name in names:
        assert name in said


def test_unusable_picture_names(mistake: Callable[..., str], tmp_path: Path) -> None:
    assert ".png or .svg" in mistake("curve", *WORKED, "--plot", str(tmp_path / "c.gif"))
    missing = tmp_path / "nowhere" / "c.png"
    assert "cannot be written" in mistake("curve", *WORKED, "--plot", str(missing))
    assert list(tmp_path.iterdir()) == []


def test_directory_instead_of_a_file(mistake: Callable[..., str], tmp_path: Path) -> None:
    assert "is a folder" in mistake("curve", str(tmp_path))


def test_as_a_process(tmp_path: Path) -> None:
    eq.curve([1, 3], [0.5, 0.5])  # has the kernels compiled, which is told on stderr otherwise
    command = [sys.executable, "-m", "equivoc", "curve"]
    done = subprocess.run([*command, "-", "--json"], input=LINES, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["area"] == pytest.approx(6.5144, abs=1e-5)
    bad = subprocess.run(
        [*command, "--values", "1,2", "--probabilities", ".5,.4", "--plot", str(tmp_path / "out.svg")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.count("\n") == 1
    assert "sum to 0.9" in bad.stderr
    assert list(tmp_path.iterdir()) == []
