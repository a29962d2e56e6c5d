"""A gateway that answers as it is told, and the service on a free port of the loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from equivoc.errors import InputError
from equivoc.gateway.history import Decision, Entry
from equivoc.gateway.policy import Policy
from equivoc.gateway.service.access import Tokens
from equivoc.gateway.service.app import gateway_app
from equivoc.gateway.service.log import PAGE, Page
from equivoc.serving.serving import bind, server


@dataclass(frozen=True)
class SaidReply:
    answered: bool
    value: Any
    reason: str
    number: int


@dataclass
class SaidGate:
    """Answers each question with what the question says, so that the service can be tested by itself."""

    policy: Policy = field(default_factory=Policy)
    entries: list[Entry] = field(default_factory=list)
    inside: int = 0
    most_inside: int = 0
    stopped: str | None = None
    warnings: tuple[str, ...] = ()

    def ask(self, sql: str, *, analyst: str) -> SaidReply:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        time.sleep(0.002)
        try:
            if sql == "bad":
                raise InputError("SELECT is expected at character 1")
            if sql == "full disk":
                self.stopped = "the log could not be written: /srv/gateway.sqlite, disk is full"
                raise InputError(self.stopped)
            if sql == "bug":
                raise RuntimeError("the salary of Ann is 107000")
            answered = sql != "refuse"
            value = {"groups": [{"sex": "F", "value": float("nan")}]}.get(sql, 57.0) if answered else None
            number = len(self.entries) + 1
            reason = "answered" if answered else "fewer than 3 people"
            decision: Decision = "answered" if answered else "refused"
            self.entries.append(Entry(number, "2030-01-01", analyst, sql, decision, reason, value))
            return SaidReply(answered, value, reason, number)
        finally:
            self.inside -= 1

    def page(self, *, analyst: str | None = None, before: int | None = None) -> Page:
        """Its log, cut into pages in another way than SQL."""
        own = [entry for entry in self.entries if analyst in (None, entry.analyst)]
        found = [entry for entry in own if before is None or entry.number < before]
        shown = tuple(reversed(found[-PAGE:]))
        return Page(shown, len(own), shown[-1].number if len(found) > PAGE else None)


@dataclass(frozen=True)
class Running:
    """The service, and a token for each name."""

    url: str
    tokens: dict[str, str]

    def client(self, name: str | None = None, **headers: str) -> httpx.Client:
        if name is not None:
            headers["Authorization"] = f"Bearer {self.tokens[name]}"
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)


@contextmanager
def running(gate: Any, folder: Path, *, log: Any = None, **options: Any) -> Iterator[Running]:
    """The service in a thread, for the analysts ann and bob and the owner olga."""
    tokens = Tokens(folder / "tokens.sqlite")
    given = {name: tokens.add(name, owner=name == "olga") for name in ("ann", "bob", "olga")}
    listening = bind("127.0.0.1", 0)
    uvicorn = server(gateway_app(gate, tokens=tokens, log=gate if log is None else log, **options))
    thread = threading.Thread(target=uvicorn.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Running(f"http://127.0.0.1:{listening.getsockname()[1]}", given)
    finally:
        uvicorn.should_exit = True
        thread.join()
        listening.close()
