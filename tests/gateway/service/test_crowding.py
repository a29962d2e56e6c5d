"""Nobody without a token can keep the service from answering by opening connections, or by being slow."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from equivoc.serving.connections import MOMENT, LimitedConnection, WaitingRoom
from tests.gateway.service.crowding import BODY, HEAD, WAYS
from tests.gateway.service.running import Running, SaidGate, running

ROOT = Path(__file__).parents[3]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(SaidGate(), tmp_path) as found:
        yield found


def port_of(service: Running) -> int:
    return int(service.url.rsplit(":", 1)[1])


@contextmanager
def crowded(service: Running, way: str, count: int) -> Iterator[None]:
    """While another process crowds it."""
    words = [sys.executable, "-m", "tests.gateway.service.crowding", str(port_of(service)), way, str(count)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"crowded\n"
            yield
        finally:
            process.kill()


@pytest.mark.parametrize("way", WAYS)
def test_a_client_is_answered_in_a_crowd(service: Running, way: str) -> None:
    """On new connections, and on one that it keeps."""
    with crowded(service, way, 900), service.client("ann") as kept:
        for _ in range(4):
            with service.client("ann") as fresh:
                for client in (fresh, kept):
                    reply = client.post("/ask", json={"sql": "SELECT SUM(pay) FROM people"})
                    assert reply.status_code == 200, reply.text
                    assert reply.json()["answered"]
            time.sleep(0.3)


@pytest.mark.parametrize(
    ("begin", "least"), [(b"", 0.5), (HEAD, 0.5), (BODY, 0.0)], ids=["nothing", "headers", "body"]
)
def test_who_trickles_is_cut_off(
    service: Running, begin: bytes, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often something arrives: what counts is that the request is not complete in time.

    A body without a token is not waited for.
    """
    monkeypatch.setattr(LimitedConnection, "patience", 0.6)
    started, end = time.monotonic(), time.monotonic() + 60
    with socket.create_connection(("127.0.0.1", port_of(service))) as slow:
        slow.sendall(begin)
        slow.settimeout(0.05)
        while time.monotonic() < end:
            try:
                if begin:
                    slow.send(b"x")
                if not slow.recv(65536):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        assert least <= time.monotonic() - started < 40


def test_a_kept_connection_may_ask_again_and_again(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time runs anew after each response, not from the beginning of the connection.

    Where a busy machine lets this process wait too long, the service is right to close: begin again.
    """
    monkeypatch.setattr(LimitedConnection, "patience", 1.0)
    asking = HEAD + f"Authorization: Bearer {service.tokens['ann']}\r\n\r\n".encode()
    for _ in range(10):
        longest, longest_pause = 0.0, 0.0
        with socket.create_connection(("127.0.0.1", port_of(service))) as kept:
            kept.settimeout(60)
            begun = before = time.monotonic()
            while longest < 1.6:
                time.sleep(0.4)
                longest_pause = max(longest_pause, time.monotonic() - before)
                if not answered(kept, asking):
                    break
                before = time.monotonic()
                longest = before - begun
        if longest >= 1.6:
            return
        assert longest_pause >= 0.9, "closed, though it asked in time"
    pytest.fail("the machine is too busy")


def answered(kept: socket.socket, asking: bytes) -> bool:
    """Whether a request is answered; else its connection is closed."""
    told = b""
    try:
        kept.sendall(asking)
        while not told.endswith(b"}"):
            piece = kept.recv(65536)
            if not piece:
                return False
            told += piece
    except OSError:
        return False
    assert told.startswith(b"HTTP/1.1 200")
    return True


@dataclass(eq=False)
class Said:
    """A connection, reduced to what the waiting room uses."""

    address: str
    known: bool = False
    closed: bool = False

    @property
    def transport(self) -> Said:
        return self

    def abort(self) -> None:
        self.closed = True


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def at_once(do: Callable[[], None]) -> None:
    do()


def closed(connections: list[Said]) -> list[bool]:
    return [each.closed for each in connections]


def test_the_longest_waiting_makes_room() -> None:
    clock = Clock()
    room: Any = WaitingRoom(most=5, most_per_address=3, clock=clock, later=at_once)
    served, *waiting = [Said(address) for address in "aabab"]
    for each in (served, *waiting):
        room.enter(each)
    clock.now = MOMENT
    room.leave(served)
    room.enter(Said("a"))
    room.enter(waiting[0])  # which waits already
    assert not any(closed(waiting))
    room.enter(Said("a"))  # a has three that wait: its own oldest goes, not b's
    assert closed(waiting) == [True, False, False, False]
    room.enter(Said("c"))  # five in all: the oldest of all goes
    assert closed(waiting) == [True, True, False, False]
    assert not served.closed


def test_a_new_connection_has_a_moment_however_many_come() -> None:
    clock = Clock()
    room: Any = WaitingRoom(most=4, most_per_address=2, most_open=9, clock=clock, later=at_once)
    early = [Said("a") for _ in range(3)]
    for each in early:
        room.enter(each)
    clock.now = MOMENT / 2
    late = [Said("a") for _ in range(6)]
    for each in late:
        room.enter(each)
    assert not any(closed(early + late))
    clock.now = MOMENT
    room.enter(Said("b"))  # nine in all may be open; of the longest waiting, those that had their moment go
    assert closed(early + late) == [True] * 3 + [False] * 6
    burst = [Said("b") for _ in range(3)]
    for each in burst:
        room.enter(each)  # beyond nine, the oldest goes, moment or not
    assert closed(late) == [True] + [False] * 5


def test_a_client_with_a_token_is_closed_last() -> None:
    clock = Clock()
    room: Any = WaitingRoom(most=4, most_per_address=2, most_open=6, clock=clock, later=at_once)
    known = [Said("a", known=True) for _ in range(3)]
    for each in known:
        room.enter(each)
    strangers = []
    for step in range(1, 31):
        clock.now = step * MOMENT
        strangers.append(Said("a"))
        room.enter(strangers[-1])
    assert not any(closed(known))
    assert sum(not each.closed for each in strangers) == 2
    for _ in range(7):
        known.append(Said("b", known=True))
        room.enter(known[-1])
    assert all(closed(strangers))
    assert closed(known) == [True] * 4 + [False] * 6


class Asked(asyncio.Protocol):
    """A connection that waits until something has come."""

    known, address = False, "a"

    def __init__(self, room: Any) -> None:
        self.room, self.read = room, b""
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.room.enter(self)

    def data_received(self, data: bytes) -> None:
        self.read += data
        self.room.leave(self)


def test_what_has_arrived_is_read_before_anything_is_closed() -> None:
    """The loop is busy for longer than the moment; then it sees a request and a crowd in the same turn."""
    clock = Clock()

    async def crowd() -> tuple[bytes, bytes]:
        room: Any = WaitingRoom(most=2, most_per_address=2, clock=clock)
        asks, silent = Asked(room), Asked(room)
        client, other = socket.socketpair(), socket.socketpair()
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: asks, sock=client[0])
        await loop.create_connection(lambda: silent, sock=other[0])
        client[1].send(b"a request")
        clock.now = 2 * MOMENT
        for _ in range(2):
            room.enter(Said("a"))
        for _ in range(6):
            await asyncio.sleep(0)
        assert silent.transport.is_closing()
        assert not asks.transport.is_closing()
        asks.transport.close()
        for _, theirs in (client, other):
            theirs.close()
        await asyncio.sleep(0)
        return asks.read, silent.read

    assert asyncio.run(crowd()) == (b"a request", b"")
