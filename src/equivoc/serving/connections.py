"""How many connections may wait, and how long: nobody can fill a service with idle or slow connections.

A connection waits while no complete request has come and no response is being sent, or while its client does not read.
Where too many wait, the one that has waited longest is closed: whoever opens many closes her own, and a client that
asks at once is served.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import count

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_WAITING = 300
MOST_WAITING_PER_ADDRESS = 150
"""A proxy's connections all come from one address."""
HEADER_PATIENCE = 10.0
"""Seconds in which a request must begin and its headers be complete, however slowly they trickle in."""


class WaitingRoom:
    """The connections of a service that wait."""

    def __init__(self, *, most: int = MOST_WAITING, most_per_address: int = MOST_WAITING_PER_ADDRESS) -> None:
        self.most = most
        self.most_per_address = most_per_address
        self._waiting: dict[str, dict[LimitedConnection, int]] = {}
        """By address: since which turn each waits."""
        self._turns = count()

    def enter(self, connection: LimitedConnection) -> None:
        """Take in a connection that begins to wait; one too many closes the oldest of its address, or of all."""
        own = self._waiting.setdefault(connection.address, {})
        if connection in own:
            return
        own[connection] = next(self._turns)
        every = [each for group in self._waiting.values() for each in group.items()]
        if len(own) > self.most_per_address:
            self._close_oldest(own.items())
        elif len(every) > self.most:
            self._close_oldest(every)

    def leave(self, connection: LimitedConnection) -> None:
        """Forget a connection that is served or closed."""
        own = self._waiting.get(connection.address, {})
        own.pop(connection, None)
        if not own:
            self._waiting.pop(connection.address, None)

    def _close_oldest(self, waiting: Iterable[tuple[LimitedConnection, int]]) -> None:
        oldest, _ = min(waiting, key=lambda each: each[1])
        self.leave(oldest)
        oldest.transport.abort()


class LimitedConnection(H11Protocol):
    """Uvicorn's connection with a limit on its waiting."""

    room: WaitingRoom
    """Given by a subclass, one for each service."""
    patience = HEADER_PATIENCE
    _alarm: asyncio.TimerHandle | None = None
    _unread = False

    @property
    def address(self) -> str:
        """The client's."""
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._settle()

    def connection_lost(self, exc: Exception | None) -> None:
        self.room.leave(self)
        self._quiet()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._settle()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._settle()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = True
        self._settle()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread = False
        self._settle()

    def _settle(self) -> None:
        """Begin or end the waiting. What arrives meanwhile does not begin it anew."""
        if self.transport.is_closing() and not self._unread:
            return
        served = self.cycle is not None and not self.cycle.response_complete
        if served:
            self._quiet()
        elif self._alarm is None:
            self._alarm = self.loop.call_later(self.patience, self._close_late)
        if served and not self._unread:
            self.room.leave(self)
        else:
            self.room.enter(self)

    def _quiet(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _close_late(self) -> None:
        """Nothing complete has come in time. What was sent before is still delivered."""
        self._alarm = None
        self.transport.close()


def limited_connections() -> type[LimitedConnection]:
    """The class of a service's connections, with a waiting room of its own."""

    class Connection(LimitedConnection):
        room = WaitingRoom()

    return Connection
