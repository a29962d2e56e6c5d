"""Whom the true answers pin down: against enumeration, and in the case that the drawn databases do not see."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equivoc.gateway.answer_pool import least_work
from equivoc.gateway.decisions import OUT_OF_WORK
from equivoc.gateway.gateway import Gateway
from equivoc.gateway.pinned_down import PinnedDown
from equivoc.gateway.policy import Policy
from equivoc.gateway.service.log import LogReader
from equivoc.systems.grids import EvenGrid
from tests.gateway.conftest import ids, made_people

Open = Callable[..., Gateway]
MOSTLY_ZERO = np.where(np.arange(400) * 7919 % 400 < 340, 0, 1 + np.arange(400) % 19)
"""85 % zeros."""


def tens(gate: Gateway) -> list[float]:
    """The sums of ids 0 to 9, 10 to 19, …"""
    found = []
    for begin in range(0, 400, 10):
        sql = f"SELECT SUM(pay) FROM people WHERE id >= {begin} AND id < {begin + 10}"
        reply = gate.ask(sql, analyst="a")
        assert reply.answered
        found.append(reply.value)
    return found


def test_sums_at_the_end_of_the_domain_are_counted(open_gate: Open) -> None:
    """In the drawn databases a sum of 0 does not occur; in the true ones it tells ten people."""
    people = made_people(MOSTLY_ZERO, domain=range(20))
    gate = open_gate(people)
    assert gate.last_note() is None
    sums = tens(gate)
    exact = 10 * sums.count(0)
    assert exact >= 50
    found = gate.pinned_down()
    assert (found.number, found.exact) == (40, exact)
    assert found.below >= exact
    assert f"{exact} people exactly" in found.text()
    assert gate.last_note() == found
    gate.close()
    assert LogReader(gate._history.path).pinned() == {40: found}
    again = open_gate(people)
    assert again.pinned_down() == found


def by_enumeration(pay: np.ndarray, asked: list[tuple[str, np.ndarray]], values: int, least: float) -> Any:
    """How many people have one value, and how many less than ``least`` bits, over all databases that fit."""
    every = np.array(list(product(range(values), repeat=len(pay))))
    for aggregate, members in asked:
        act = {"SUM": np.sum, "MAX": np.max, "MIN": np.min}[aggregate]
        every = every[act(every[:, members], axis=1) == act(pay[members])]
    exact = below = 0
    for person in range(len(pay)):
        share = np.bincount(every[:, person], minlength=values) / len(every)
        share = share[share > 0]
        exact += len(share) == 1
        below += len(share) == 1 or -(share * np.log2(share)).sum() < least
    return exact, below


@pytest.mark.parametrize("seed", range(6))
def test_the_counts_are_those_of_an_enumeration(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pay = rng.choice([0, 0, 0, 1, 2], 7)
    gate = Gateway(
        made_people(pay, domain=range(3)),
        store=tmp_path / "store",
        policy={"least_people": 1, "least_h0": 0.9, "simulatable": False},
    )
    gate._decisions._policy = Policy(
        least_people=1, least_h0=0.0, share=0.99, draws=2
    )  # answers nearly everything
    asked = []
    with gate:
        for _ in range(4):
            aggregate = str(rng.choice(["SUM", "MAX", "MIN"]))
            members = np.flatnonzero(rng.random(7) < 0.5)
            if not len(members):
                continue
            sql = f"SELECT {aggregate}(pay) FROM people WHERE {ids(members)}"
            if gate.ask(sql, analyst="a").answered:
                asked.append((aggregate, members))
        found = gate.pinned_down()
    assert (found.exact, found.below) == by_enumeration(pay, asked, 3, 0.9)
    assert found.unsettled == 0


def test_a_value_of_many_people_is_said_at_the_start(open_gate: Open) -> None:
    (warning,) = open_gate(made_people(MOSTLY_ZERO, domain=range(20))).warnings
    assert warning.startswith("340 of 400 people (85.0%) have the pay 0 at an end of the domain: of 3 people")
    assert "with probability 61.4%" in warning  # 0.85³


@pytest.mark.parametrize(("copies", "warned"), [(8, False), (9, True)])
def test_a_fifth_is_not_yet_many(open_gate: Open, copies: int, warned: bool) -> None:
    others = np.resize([0, 1, 2, 3, 4, 6, 7, 8, 9], 40 - copies)
    pay = np.concatenate([np.full(copies, 5), others])
    assert bool(open_gate(made_people(pay)).warnings) == warned


@pytest.mark.parametrize("simulatable", [True, False])
def test_work_that_never_suffices_is_said_at_the_start(tmp_path: Path, simulatable: bool) -> None:
    people = made_people(np.arange(40) % 10)
    grid = EvenGrid(0.0, 1.0, np.arange(10))
    least = least_work(grid, people=40, databases=100 if simulatable else 1)
    asked = [f"SELECT {name}(pay) FROM people WHERE id < 30" for name in ("SUM", "MAX", "MIN", "AVG")]
    replies = {}
    for work in (least - 1, least):
        policy = {"work": work, "simulatable": simulatable}
        with Gateway(people, store=tmp_path / str(work), policy=policy) as gate:
            replies[work] = [gate.ask(sql, analyst="a") for sql in asked]
            assert [f"at least {least:,} operations" in each for each in gate.warnings] == (
                [True] if work < least else []
            )
    assert {reply.reason for reply in replies[least - 1]} == {OUT_OF_WORK}
    assert replies[least][1].answered  # MAX needs no more


def test_a_store_of_an_earlier_version_is_opened(open_gate: Open, people: Any, tmp_path: Path) -> None:
    open_gate(people).close()
    with closing(sqlite3.connect(tmp_path / "gateway.sqlite")) as store, store:
        store.execute("DROP TABLE pinned_down")
    assert LogReader(tmp_path / "gateway.sqlite").pinned() == {}
    gate = open_gate(people)
    gate.ask("SELECT SUM(pay) FROM people", analyst="a")
    assert gate.pinned_down() == PinnedDown(1, 0)
