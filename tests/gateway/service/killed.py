"""SIGKILL at random moments under load, and what must hold afterwards; for a test and for a benchmark."""

from __future__ import annotations

import random
import shutil
import time
from functools import partial
from pathlib import Path

import equivoc as eq
from equivoc.gateway.history import Entry
from equivoc.gateway.service.access import Tokens
from equivoc.gateway.service.log import LogReader
from tests.gateway.service.service_process import (
    KEYS,
    Client,
    ServiceProcess,
    Told,
    clients_at_work,
    some_question,
)

CLIENTS = 4
GIVEN = ("answered", "repeated")


def prepare(folder: Path) -> dict[str, str]:
    """A store that nobody has asked yet, a copy of it, and tokens of the clients."""
    _gateway(folder, folder).close()
    (folder / "copy").mkdir()
    shutil.copy(
        folder / "gateway.sqlite", folder / "copy"
    )  # with the store's own secret, on which draws depend
    tokens = Tokens.beside(folder / "gateway.sqlite")
    return {name: tokens.add(name) for name in (f"analyst-{n}" for n in range(CLIENTS))}


def run_until_ended(
    folder: Path, tokens: dict[str, str], rng: random.Random, *, replies: int, kill: bool = True
) -> list[Told]:
    """What the clients were told before the service was killed or stopped: some ``replies``, then at any moment."""
    service = ServiceProcess.start(folder)
    seeds = [rng.randrange(2**32) for _ in tokens]
    clients = [
        Client(service.url, token, partial(some_question, random.Random(seed)))
        for token, seed in zip(tokens.values(), seeds, strict=True)
    ]
    wanted, pause = rng.randrange(1, replies), rng.random() * 0.03
    with clients_at_work(clients):
        while sum(len(client.told) for client in clients) < wanted and service.process.poll() is None:
            time.sleep(0.001)
        time.sleep(pause)
        if kill:
            service.kill()
        else:
            assert service.stop() == 0
    assert [problem for client in clients for problem in client.problems] == []
    return [told for client in clients for told in client.told]


def check_nothing_lost(folder: Path, told: list[Told], *, kills: int) -> list[Entry]:
    """Everything that a client was told is in the log as it was told; the log has no gaps, and little that was not."""
    entries = list(LogReader(folder / "gateway.sqlite").every())
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    for each in told:
        entry = entries[each.reply["number"] - 1]
        assert (entry.decision in GIVEN) == each.reply["answered"], (entry, each)
        assert entry.value == each.reply["value"], (entry, each)
    assert len({each.reply["number"] for each in told}) == len(told)
    # A decision is logged first, so each kill can cut off one reply of each client.
    assert len(told) <= len(entries) <= len(told) + kills * CLIENTS
    return entries


def check_same_decisions(folder: Path, entries: list[Entry]) -> None:
    """A gateway that was never interrupted decides every question of the log in the same way."""
    with _gateway(folder, folder / "copy") as gate:
        for entry in entries:
            reply = gate.ask(entry.question, analyst=entry.analyst)
            assert (reply.number, reply.answered) == (entry.number, entry.decision in GIVEN), entry
            assert (reply.reason, reply.value) == (entry.reason, entry.value), entry


def _gateway(folder: Path, store: Path) -> eq.Gateway:
    people = eq.read(folder / "people.parquet", confidential="salary", keys=KEYS)
    return eq.Gateway(people, policy=folder / "policy.toml", store=store / "gateway.sqlite")
