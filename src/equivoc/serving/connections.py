"""How many connections may wait, and how long: nobody can fill a service with idle or slow connections.

A connection waits while no complete request has come and no response is being sent, or while its client does not read.
Where too many wait, the one that has waited longest is closed. Whoever opens many closes her own: a new connection has
a moment to send its request before it can be closed for others, and one whose client has shown her token goes last.
What has arrived by the end of that moment is read before anything is closed, however busy the machine was.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_WAITING = 300
MOST_WAITING_PER_ADDRESS = 150
"""A proxy's connections all come from one address."""
MOST_OPEN = 1500
"""However short they have waited, and whoever they are of: a process has so many file descriptors."""
OTHER_FILES = 300
"""File descriptors that are left for everything else."""
MOMENT = 5.0
"""Seconds that a new connection has to send its request: a burst of others must not close it before."""
HEADER_PATIENCE = 10.0
"""Seconds in which a request must begin and its headers be complete, however slowly they trickle in."""


def after_reading(do: Callable[[], None]) -> None:
    """``do`` once the event loop has read what has arrived by now: in its next turn but one, after a turn's reading."""
    loop = asyncio.get_running_loop()
    loop.call_soon(loop.call_soon, do)


class WaitingRoom:
    """The connections of a service that wait."""

    def __init__(
        self,
        *,
        most: int = MOST_WAITING,
        most_per_address: int = MOST_WAITING_PER_ADDRESS,
        most_open: int = MOST_OPEN,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[Callable[[], None]], None] = after_reading,
    ) -> None:
        self.most = most
        self.most_per_address = most_per_address
        self.most_open = most_open
        self.clock = clock
        self.later = later
        self._tidied_later = False
        self._strangers: dict[LimitedConnection, float] = {}
        """Of clients that have shown no token, since when each waits; as all here, the longest waiting first."""
        self._strangers_at: dict[str, dict[LimitedConnection, float]] = {}
        """The same by address."""
        self._known: dict[LimitedConnection, float] = {}

    def enter(self, connection: LimitedConnection) -> None:
        """Take in a connection that begins to wait, and close those that have waited longest if there are too many."""
        if connection in self._known or connection in self._strangers:
            return
        now = self.clock()
        if connection.known:
            self._known[connection] = now
        else:
            own = self._strangers_at.setdefault(connection.address, {})
            own[connection] = self._strangers[connection] = now
            if not self._tidied_later and (
                len(own) > self.most_per_address or len(self._strangers) > self.most
            ):
                self._tidied_later = True
                self.later(lambda: self._tidy(now - MOMENT))
        while len(self._strangers) + len(self._known) > self.most_open:
            self._close(next(iter(self._strangers or self._known)))

    def leave(self, connection: LimitedConnection) -> None:
        """Forget a connection that is served or closed."""
        self._known.pop(connection, None)
        self._strangers.pop(connection, None)
        own = self._strangers_at.get(connection.address, {})
        own.pop(connection, None)
        if not own:
            self._strangers_at.pop(connection.address, None)

    def _tidy(self, latest: float) -> None:
        """Make room at each address, and in all. What these connections sent within their moment has been read."""
        self._tidied_later = False
        for own in list(self._strangers_at.values()):
            self._make_room(own, self.most_per_address, latest)
        self._make_room(self._strangers, self.most, latest)

    def _make_room(self, waiting: dict[LimitedConnection, float], most: int, latest: float) -> None:
        """Close the first ones until at most ``most`` wait, but none that has waited since after ``latest``."""
        while len(waiting) > most:
            oldest, since = next(iter(waiting.items()))
            if since > latest:
                return
            self._close(oldest)

    def _close(self, connection: LimitedConnection) -> None:
        self.leave(connection)
        connection.transport.abort()


class LimitedConnection(H11Protocol):
    """Uvicorn's connection with a limit on its waiting."""

    room: WaitingRoom
    """Given by a subclass, one for each service."""
    patience = HEADER_PATIENCE
    known = False
    """Without a valid token, a response closes its connection: whose is kept after a response has shown one."""
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
        self.known = self.known or not self.transport.is_closing()
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
        room = WaitingRoom(most_open=min(MOST_OPEN, available_files() - OTHER_FILES))

    return Connection


def available_files() -> int:
    """How many files and connections this process may have open, after asking for enough."""
    wanted = MOST_OPEN + OTHER_FILES
    if sys.platform == "win32":
        return wanted  # has no such limit on sockets
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else soft
