"""The offered calls run and give the figures on the screen."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

import equivoc as eq
from equivoc.cli.app import app
from tests.web.page_server import ROLES, opened, people_csv, result_of

REQUIRE = ["true_hit(20) <= 0.95"]


def run_python(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that a program leaves, run in ``folder``; what it prints is not of interest."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(compile(program, "offered", "exec"), names)
    return names


def run_command(command: str, *more: str) -> dict[str, Any]:
    """The JSON that the command prints, in the folder of the last program."""
    name, *words = shlex.split(command)
    assert name == "equivoc"
    done = CliRunner().invoke(app, [*words, *more])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def folder(http: httpx.Client, tmp_path: Path) -> Path:
    """A folder with the same file as on the page, which shows a technique, a tolerance and a requirement."""
    opened(http)
    (tmp_path / "people.csv").write_text(people_csv(), encoding="utf-8")
    view = {"technique": "swapping:rate=0.5", "known": ["age"], "eps": 30, "seed": 3, "require": REQUIRE}
    assert http.patch(
        "/api/state", json={"view": view, "settings": ["swapping:rate=0.5", "rounding:base=30"]}
    )
    return tmp_path


def test_an_assessment(http: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = http.get("/api/state").json()["view"]
    asked = {name: view[name] for name in ("technique", "known", "eps", "seed", "prior", "require")}
    shown = http.post("/api/live/assess", json=asked).json()["facts"]
    offered = http.get("/api/calls", params={"what": "assess", "intruder": "informed"}).json()
    result = run_python(offered["python"], folder, monkeypatch)["result"]
    assert result.facts(unit="K")["hits"] == shown["hits"]
    assert result.facts(unit="K")["truth"] == shown["truth"]
    printed = run_command(offered["command"], "--json")
    assert [each["release"] for each in printed["hits"]] == [each["release"] for each in shown["hits"]]
    assert printed["truth"] == shown["truth"]


def test_a_comparison_and_its_plan(http: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = {"known": ["age"], "eps": 30, "seed": 3, "require": REQUIRE, "intruder": "informed"}
    shown = result_of(http, kind="compare", techniques=["swapping:rate=0.5", "rounding:base=30"], **shared)
    offered = http.get("/api/calls", params={"what": "compare", "intruder": "informed"}).json()
    done = run_python(offered["python"], folder, monkeypatch)["done"]
    assert done.facts(unit="K")["techniques"] == shown["techniques"]
    alone = ("--workers", "1", "--json")  # other processes would take seconds to start
    assert run_command(offered["command"], *alone)["techniques"] == shown["techniques"]
    (folder / "plan.toml").write_text(offered["plan"], encoding="utf-8")
    assert run_command("equivoc compare plan.toml", *alone)["techniques"] == shown["techniques"]


def test_a_protected_file(http: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed of the screen is not offered: with it, the changes could be undone."""
    offered = http.get("/api/calls", params={"what": "protect"}).json()
    assert "seed" not in offered["python"] + offered["command"]
    done = run_python(offered["python"], folder, monkeypatch)["done"]
    assert done.certificate["technique"]["notation"] == "swapping:rate=0.5"
    assert done.certificate["assessment"]["known"] == ["age"]


def test_choose_audit_and_table(http: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {
        "what": "choose",
        "technique": "swapping",
        "parameter": "rate",
        "low": 0.2,
        "high": 1,
        "intruder": "informed",
    }
    offered = http.post("/api/calls", json=asked).json()
    best = run_python(offered["python"], folder, monkeypatch)["best"]
    own = eq.read("people.csv", confidential="pay", keys=["age", "sex"], round_to=10)
    shared: dict[str, Any] = {"known": ["age"], "eps": [0, 30], "seed": 3, "intruder": "informed"}
    same = eq.choose(own, eq.Swapping, "rate", low=0.2, high=1, require=REQUIRE, **shared)
    assert best.sentence == same.sentence
    assert run_command(offered["command"], "--json")["technique"] == same.technique.notation

    sql = "SELECT SUM(pay) FROM people WHERE age > 31"
    offered = http.post("/api/calls", json={"what": "audit", "statements": sql, "require": []}).json()
    (folder / "log.sql").write_text(sql, encoding="utf-8")
    found = run_python(offered["python"], folder, monkeypatch)["found"]
    printed = run_command(offered["command"], "--json")
    assert printed["hits"] == found.facts()["hits"]

    asked = {"what": "table", "by": ["age", "sex"], "value": "pay", "rule": "p:10", "method": "suppress"}
    offered = http.post("/api/calls", json=asked).json()
    released = run_python(offered["python"], folder, monkeypatch)["release"]
    assert run_command(offered["command"], "--json")["counts"]["withheld"] == int(released.withheld.sum())


def test_names_that_need_quotes(http: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ['pay, "net"', "it's $HOME", "pay"]
    content = people_csv().replace("age,sex,pay", '"pay, ""net""",it\'s $HOME,pay', 1)
    opened(http, content, {**ROLES, "keys": names[:2]})
    (tmp_path / "people.csv").write_text(content, encoding="utf-8")
    http.patch("/api/state", json={"view": {"known": [names[0]], "eps": 20, "require": []}})
    offered = http.get("/api/calls", params={"what": "assess", "intruder": "informed"}).json()
    result = run_python(offered["python"], tmp_path, monkeypatch)["result"]
    assert result.known == (names[0],)
    assert run_command(offered["command"], "--json")["known"] == [names[0]]
