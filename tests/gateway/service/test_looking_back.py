"""The look back of the service: after the answer, in a process of its own, for the owner alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import equivoc as eq
from equivoc.gateway.pinned_down import PATIENCE, LookingBack, PinnedDown
from equivoc.gateway.service.log import LogReader
from tests.gateway.conftest import made_people
from tests.gateway.service.running import Running, running
from tests.web.page_server import wait_for

PAY = np.where(np.arange(40) < 30, 0, np.arange(40) % 10)
"""The first thirty have nothing."""
ASKED = "SELECT SUM(pay) FROM people WHERE id < 10"


@contextmanager
def service(folder: Path, told: list[str], patience: int = PATIENCE) -> Iterator[Running]:
    store = folder / "gateway.sqlite"
    with (
        eq.Gateway(made_people(PAY), policy={"least_h0": 1.0}, store=store) as gate,
        LookingBack(gate, tell=told.append, patience=patience) as looking_back,
        running(gate, folder, log=LogReader(store), answered=looking_back.wake) as found,
    ):
        yield found


def noted(folder: Path) -> dict[int, PinnedDown]:
    return LogReader(folder / "gateway.sqlite").pinned()


def test_the_owner_learns_whom_an_answer_pinned_down_and_the_analyst_does_not(tmp_path: Path) -> None:
    told: list[str] = []
    with service(tmp_path, told) as found:
        with found.client("ann") as ann, found.client("olga") as olga:
            reply = ann.post("/ask", json={"sql": ASKED})
            assert (reply.json()["answered"], reply.json()["value"]) == (True, 0)
            assert wait_for(lambda: noted(tmp_path)) == {1: PinnedDown(1, 10, 10)}
            seen = [reply.text, ann.get("/history").text, ann.get("/policy").text]
            page = olga.get("/log").text
        assert not any("exact" in each or "pinned" in each for each in seen)
        assert set(json.loads(seen[1])["entries"][0]) == {
            "number", "time", "analyst", "question", "decision", "reason", "value",
        }  # fmt: skip
        assert "10 people exactly" in page
        assert "31 of 40 people (77.5%) have the pay 0" in page  # the warning at the start
        (sentence,) = wait_for(lambda: told)
    assert sentence.startswith("After entry 1, the answers tell 10 people exactly (before: 0).")


def test_what_takes_too_long_is_said(tmp_path: Path) -> None:
    with service(tmp_path, [], patience=0) as found, found.client("ann") as ann:
        assert ann.post("/ask", json={"sql": ASKED}).json()["answered"]
        assert wait_for(lambda: noted(tmp_path)) == {1: PinnedDown(1, None)}


def test_what_was_not_looked_at_is_made_up_for_at_the_next_start(tmp_path: Path) -> None:
    store = tmp_path / "gateway.sqlite"
    with eq.Gateway(made_people(PAY), policy={"least_h0": 1.0}, store=store) as gate:
        assert gate.ask(ASKED, analyst="ann").answered
    told: list[str] = []
    with eq.Gateway(made_people(PAY), policy={"least_h0": 1.0}, store=store) as gate:
        with LookingBack(gate, tell=told.append):
            assert wait_for(lambda: noted(tmp_path)) == {1: PinnedDown(1, 10, 10)}
            assert wait_for(lambda: told)
        with LookingBack(gate, tell=told.append) as again:
            assert not again._wake.is_set()
    assert len(told) == 1
