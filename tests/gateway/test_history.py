"""The log: durable, whole after a kill, the same decisions after a restart, one gateway per store."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.gateway.gateway import Gateway, Reply
from equivoc.gateway.policy import Policy, as_policy, looser_in
from tests.gateway.asking_process import POLICY, people_of_process, questions
from tests.gateway.conftest import made_people

Open = Callable[..., Gateway]
ROOT = Path(__file__).parents[2]


def asked(count: int, seed: int = 4) -> list[str]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        low, high = sorted(rng.integers(0, 40, 2).tolist())
        found.append(
            f"SELECT {rng.choice(['SUM', 'MAX', 'MIN'])}(pay) FROM people WHERE id BETWEEN {low} AND {high}"
        )
    return found


def plain(replies: list[Reply]) -> list[tuple[bool, Any, str]]:
    return [(reply.answered, reply.value, reply.reason) for reply in replies]


def test_a_restarted_gateway_decides_the_same(people: Microdata, tmp_path: Path) -> None:
    """Opened for each question, with and without the saved pool, or once: the same replies."""
    policy = {"least_h0": 1.0}
    statements = asked(12)
    with Gateway(people, store=tmp_path / "once", policy=policy) as gate:
        once = plain([gate.ask(sql, analyst="a") for sql in statements])
    assert {answered for answered, _, _ in once} == {True, False}
    often, forgetful = [], []
    for sql in statements:
        with Gateway(people, store=tmp_path / "often", policy=policy) as gate:
            often.append(gate.ask(sql, analyst="a"))
        with Gateway(people, store=tmp_path / "forgetful", policy=policy) as gate:
            forgetful.append(gate.ask(sql, analyst="a"))
        with sqlite3.connect(tmp_path / "forgetful") as connection:
            connection.execute("DELETE FROM pools")
        connection.close()
    assert plain(often) == once
    assert plain(forgetful) == once


def test_the_log_holds_everything_in_order(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people)
    replies = [gate.ask(sql, analyst=name) for sql, name in zip(asked(12), "abc" * 4, strict=True)]
    entries = gate.history()
    assert [entry.number for entry in entries] == list(range(1, 13)) == [reply.number for reply in replies]
    assert [(e.decision != "refused", e.value, e.reason) for e in entries] == plain(replies)
    assert [entry.analyst for entry in gate.history("b")] == ["b"] * 4
    assert entries[0].question.startswith("SELECT ")
    assert [entry.time for entry in entries] == sorted(entry.time for entry in entries)


def test_the_file_is_private_and_synchronous(people: Microdata, open_gate: Open, tmp_path: Path) -> None:
    gate = open_gate(people)
    gate.ask("SELECT SUM(pay) FROM people", analyst="a")
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert gate._history._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert gate._history._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_one_gateway_per_store(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people)
    with pytest.raises(InputError, match="another gateway uses the store"):
        open_gate(people)
    gate.close()
    open_gate(people)
    with pytest.raises(InputError, match="the gateway is closed"):
        gate.ask("SELECT SUM(pay) FROM people", analyst="a")


def test_other_data_are_refused(people: Microdata, open_gate: Open) -> None:
    open_gate(people).close()
    changed = people.values[people.codes].copy()
    changed[7] = (changed[7] + 1) % 10
    with pytest.raises(InputError, match="holds answers about other data"):
        open_gate(made_people(changed.astype(int)))
    open_gate(people)


def test_a_looser_policy_must_be_accepted(people: Microdata, open_gate: Open) -> None:
    open_gate(people, policy={"least_people": 4}).close()
    with pytest.raises(InputError, match="stricter policy: least_people falls from 4 to 3"):
        open_gate(people, policy={"least_people": 3})
    open_gate(people, policy={"least_people": 5}).close()
    gate = open_gate(people, policy={"least_people": 3}, accept_looser_policy=True)
    kept = [json.loads(text)["least_people"] for _, _, text in gate._history.policies()]
    assert kept == [4, 5, 3]


def test_what_is_no_store_is_refused_and_left_alone(
    people: Microdata, open_gate: Open, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    connection.close()
    (tmp_path / "text").write_text("not a database at all " * 100)
    (tmp_path / "text").chmod(0o644)
    before = other.read_bytes()
    with pytest.raises(InputError, match="not a gateway's store"):
        open_gate(people, store="other.sqlite")
    assert other.read_bytes() == before
    with pytest.raises(InputError, match="not a gateway's store"):
        open_gate(people, store="text")
    assert stat.S_IMODE((tmp_path / "text").stat().st_mode) == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.sqlite", "text"]
    with pytest.raises(InputError, match="not a folder"):
        open_gate(people, store="missing/store")
    with pytest.raises(InputError, match="give the path"):
        Gateway(people, store=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("value = '1.0'", "entry 1 is not what the data answer"),
        ("value = '[1'", "entry 1 cannot be read"),
        ("value = x'ff'", "entry 1 cannot be read"),
        ("question = 'DROP TABLE people'", "damaged: an answered question cannot be read"),
    ],
)
def test_a_changed_log_is_found(
    people: Microdata, open_gate: Open, tmp_path: Path, change: str, said: str
) -> None:
    gate = open_gate(people)
    gate.ask("SELECT SUM(pay) FROM people", analyst="a")
    gate.close()
    with sqlite3.connect(tmp_path / "gateway.sqlite") as connection:
        connection.execute(f"UPDATE entries SET {change}")
    connection.close()
    with pytest.raises(InputError, match=said):
        open_gate(people)


def test_an_answer_is_given_although_the_drawn_databases_cannot_be_saved(
    people: Microdata, open_gate: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise InputError("the disk is full.")

    gate = open_gate(people)
    monkeypatch.setattr(gate._history, "save_pool", full)
    monkeypatch.setattr("equivoc.gateway.gateway.POOL_EVERY", 1)
    first = gate.ask("SELECT SUM(pay) FROM people", analyst="a")
    gate.close()
    again = open_gate(people)
    assert first.answered
    assert again.ask("SELECT SUM(pay) FROM people", analyst="a").value == first.value


def test_more_draws_than_memory_holds(
    people: Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("equivoc.gateway.gateway.MOST_DRAWN_VALUES", 150 * len(people))
    with pytest.raises(InputError, match="give at most 150"):
        Gateway(people, store=tmp_path / "store", policy={"draws": 151})
    assert not (tmp_path / "store").exists()


def test_nothing_is_answered_if_the_log_cannot_be_written(people: Microdata, open_gate: Open) -> None:
    gate = open_gate(people)
    gate._history._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(InputError, match="cannot be used"):
        gate.ask("SELECT SUM(pay) FROM people", analyst="a")
    with pytest.raises(InputError, match="the gateway stopped"):
        gate.ask("SELECT SUM(pay) FROM people", analyst="a")


@pytest.mark.parametrize("step", ["judge", "take"])
def test_an_interrupted_decision_stops_the_gateway(
    people: Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Otherwise it would go on without remembering what it may have answered."""
    first = "SELECT SUM(pay) FROM people WHERE id < 20"

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    gate = Gateway(people, store=tmp_path / "store", policy={"least_h0": 0.2})
    with monkeypatch.context() as patched:
        patched.setattr(gate._decisions, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            gate.ask(first, analyst="a")
    with pytest.raises(InputError, match="a decision was interrupted"):
        gate.ask("SELECT SUM(pay) FROM people WHERE id < 19", analyst="a")
    with Gateway(people, store=tmp_path / "store", policy={"least_h0": 0.2}) as again:
        assert [entry.question for entry in again.history()] == (
            [] if step == "judge" else ['SELECT SUM("pay") FROM "people" WHERE "id" < 20']
        )
        reply = again.ask("SELECT SUM(pay) FROM people WHERE id < 19", analyst="a")
        assert reply.answered == (step == "judge")


def test_questions_of_several_threads_are_decided_one_after_the_other(
    people: Microdata, open_gate: Open
) -> None:
    """Of two sets that differ by one person only one may be answered, whoever comes first."""
    gate = open_gate(people, policy={"least_h0": 0.2})
    replies: list[Reply] = []

    def ask(high: int) -> None:
        replies.append(gate.ask(f"SELECT SUM(pay) FROM people WHERE id < {high}", analyst=str(high)))

    threads = [threading.Thread(target=ask, args=(high,)) for high in range(10, 18)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answered = sorted(int(e.analyst) for e in gate.history() if e.decision == "answered")
    assert all(high - low >= 3 for low, high in pairwise(answered))
    assert [entry.number for entry in gate.history()] == list(range(1, 9))


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_any_moment_the_log_is_whole(tmp_path: Path, seed: int) -> None:
    """What was given is logged, numbers have no gap, and the restarted gateway decides like one never killed."""
    store = tmp_path / "store"
    command = [sys.executable, "-m", "tests.gateway.asking_process", str(store), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        given = [json.loads(process.stdout.readline()) for _ in range(3)]
        time.sleep(float(np.random.default_rng(seed).uniform(0, 0.4)))
        process.kill()
        rest = process.stdout.read().splitlines(keepends=True)
    given += [json.loads(line) for line in rest if line.endswith("\n")]
    with Gateway(people_of_process(), store=store, policy=POLICY) as gate:
        entries = gate.history()
        logged = {
            e.number: [e.number, e.decision in ("answered", "repeated"), e.value, e.reason] for e in entries
        }
        assert list(logged) == list(range(1, len(entries) + 1))
        for reply in given:
            assert logged[reply[0]] == reply
        asking = questions(99)
        after = plain(
            [gate.ask(sql, analyst="a") for sql in (next(asking) for _ in range(12)) if "COUNT" not in sql]
        )
    with Gateway(people_of_process(), store=tmp_path / "other", policy=POLICY) as gate:
        for entry in entries:
            if entry.decision != "invalid":
                reply = gate.ask(entry.question, analyst="a")
                assert (reply.value, reply.reason) == (entry.value, entry.reason)
        asking = questions(99)
        assert after == plain(
            [gate.ask(sql, analyst="a") for sql in (next(asking) for _ in range(12)) if "COUNT" not in sql]
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"least_persons": 3}, "no 'least_persons': did you mean 'least_people'"),
        ({"least_people": 0}, "least_people is 0"),
        ({"least_people": 2.5}, "least_people is 2.5"),
        ({"least_h0": -1}, "least_h0 is -1"),
        ({"least_h0": float("nan")}, "least_h0 is nan"),
        ({"share": 0}, "share is 0"),
        ({"share": 0.001}, "give at least 1000 draws"),
        ({"simulatable": "yes"}, "simulatable is 'yes'"),
        ({"scope": "all"}, "scope is 'all'"),
        ({"edges": {"age": [40, 30]}}, "must ascend"),
        ({"edges": {"age": []}}, "at least one edge"),
        ({"edges": {"age": [1, "a"]}}, "all of one kind"),
        ({"draws": 10**7}, "at most 100000"),
        (7, "policy is 7"),
    ],
)
def test_impossible_policies(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_policy(given)


def test_a_policy_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("least_people = 5\nshare = 0.1\n[edges]\nage = [20, 40]\n")
    assert as_policy(file) == Policy(least_people=5, share=0.1, edges={"age": (20, 40)})
    file.write_text("least_people = \n")
    with pytest.raises(InputError, match="is not TOML"):
        as_policy(file)
    with pytest.raises(InputError, match="there is no policy file"):
        as_policy(tmp_path / "missing.toml")
    with pytest.raises(InputError, match="give it once"):
        as_policy({"simulatable": True}, simulatable=False)


def test_what_is_looser() -> None:
    old = Policy(edges={"age": [20, 40]}, simulatable=True).text()
    assert looser_in(old, Policy(edges={"age": [40]}, least_people=9, least_h0=2, work=5)) == []
    assert looser_in(old, Policy(questions_per_minute=1000, edges={"age": [20, 40], "sex": ["F"]})) == []
    worse = Policy(least_h0=0.5, share=0.5, draws=20, simulatable=False, scope="analyst", work=10**12)
    assert len(looser_in(old, worse)) == 7
