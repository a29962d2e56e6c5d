"""No command prints or writes a single person's key or value, unless --record-values asks for it."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from equivoc.cli.app import app
from equivoc.cli.main import main

TOWN, AGE, IN_THE_MIDDLE, LARGEST = "Zqxton", 9731, 731000, 986000
"""A town and an age of one person each, and the values of these two; nobody else has any of them."""
PEOPLE = "people.csv --confidential salary --keys town,age"
TABLE = "people.csv --by town,age --value salary --rule threshold:3 --rule p:10"
PLAN = """
[data]
path = "people.csv"
keys = ["town", "age"]
confidential = "salary"
[[technique]]
name = "sampling"
fraction = [0.5]
[study]
seed = 1
"""
LOG = """
SELECT SUM(salary) FROM people;
SELECT town, AVG(salary) FROM people GROUP BY town;
SELECT age, COUNT(*), MAX(salary) FROM people GROUP BY age;
"""
SHOWS_NO_PEOPLE = {"curve", "reproduce", "doctor", "serve"}
"""Commands that read no people, or whose page is tested elsewhere."""
COMMANDS = {
    "assess": [f"{PEOPLE} --out out", f"{PEOPLE} --out out --format parquet", f"{PEOPLE} --json"],
    "measures": [PEOPLE, f"{PEOPLE} --json"],
    "roles": ["people.csv", "people.csv --json"],
    "report": [f"{PEOPLE} --technique noise-addition:percent=5 --out page.html --json facts.json"],
    "study": ["plan.toml --out out", "plan.toml --out out --json"],
    "compare": [
        f"{PEOPLE} --technique unprotected --technique swapping:rate=0.3 --require gain<=1 --workers 1 {how}"
        for how in ("--out out", "--json")
    ],
    "choose": [f"{PEOPLE} --technique noise-addition:percent=1..4 --require gain<=9 {how}" for how in ("", "--json")],
    "protect": [f"{PEOPLE} --technique swapping:rate=0.3 --out release.csv {how}" for how in ("", "--json")],
    "verify": [f"release.certificate.json people.csv release.csv {how}" for how in ("", "--json")],
    "audit": [
        f"people.csv --confidential salary --domain 600000:990000:1000 --queries log.sql --work 1e6 {how}"
        for how in ("--out out", "--out out.html", "--json")
    ],
    "table": [
        f"{TABLE} --out out",
        f"{TABLE} --json",
        f"{TABLE} --suppress --out out",
        f"{TABLE} --suppress --json",
        f"{TABLE} --compare suppress|round:1000 --out out",
        f"{TABLE} --compare suppress|round:1000 --json",
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "town": random.choice(["North", "South"], 60),
            "age": random.choice([30, 40, 50], 60),
            "salary": random.integers(6, 9, 60) * 100_000 + random.integers(0, 20, 60) * 1000,
        }
    )
    people.loc[7] = [TOWN, 40, IN_THE_MIDDLE]
    people.loc[8] = ["North", AGE, LARGEST]
    people.to_csv("people.csv", index=False)
    Path("plan.toml").write_text(PLAN)
    Path("log.sql").write_text(LOG)


def run(command: str, words: str) -> str:
    """What the command prints."""
    told = io.StringIO()
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(told):
        patched.setattr(sys, "argv", ["equivoc", command, *words.split()])
        with contextlib.redirect_stderr(told), pytest.raises(SystemExit) as left:
            main()
    assert (left.value.code or 0) == 0, told.getvalue()
    return told.getvalue()


def texts(inputs: set[Path]) -> dict[str, str]:
    """The content of every file that was written."""
    found = {}
    for path in sorted(set(Path().rglob("*")) - inputs):
        if path.suffix == ".parquet":
            found[str(path)] = pd.read_parquet(path).to_csv()
        elif path.is_file() and path.suffix != ".png" and path.name != "release.csv":
            found[str(path)] = path.read_bytes().decode("latin-1")
    return found


def planted(text: str, numbers: tuple[int, ...]) -> list[str]:
    """The planted numbers and the planted town that occur, also as 731,000 and 731000.0."""
    found = [TOWN] if TOWN in text else []
    for number in numbers:
        written = f"{number}|{number:,}"
        if re.search(rf"(?<![\d.])({written})(\.0+)?(?!\d|\.\d)", text):
            found.append(str(number))
    return found


def test_every_command_is_here() -> None:
    every = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert every == set(COMMANDS) | SHOWS_NO_PEOPLE


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_planted_is_written(command: str) -> None:
    inputs = set(Path().rglob("*"))
    if command == "verify":
        run("protect", COMMANDS["protect"][0])
    for words in COMMANDS[command]:
        outputs = {"the terminal": run(command, words), **texts(inputs)}
        assert len(outputs) > 1 or "--out" not in words
        for where, text in outputs.items():
            numbers = (IN_THE_MIDDLE, LARGEST) if command == "table" else (AGE, IN_THE_MIDDLE, LARGEST)
            found = planted(text, numbers)
            if command == "table" and TOWN in found:  # the categories of a table are public
                found.remove(TOWN)
            assert not found, f"{command} {words}: {where}"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("audit", {"compromised.csv": [TOWN, AGE, IN_THE_MIDDLE, LARGEST], "records.csv": [IN_THE_MIDDLE]}),
        ("assess", {"classes.csv": [TOWN, AGE]}),
        ("table", {"table.csv": [IN_THE_MIDDLE, LARGEST], "unsafe.csv": [IN_THE_MIDDLE, LARGEST]}),
    ],
)
def test_they_are_written_on_request(command: str, files: dict[str, list[object]]) -> None:
    run(command, f"{COMMANDS[command][0]} --record-values")
    for name, wanted in files.items():
        found = planted(Path("out", name).read_text(), (AGE, IN_THE_MIDDLE, LARGEST))
        assert set(map(str, wanted)) <= set(found), name
