"""Running a service: one process, a socket that is bound before anything is promised, an orderly stop."""

from __future__ import annotations

import ipaddress
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from equivoc.errors import InputError

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

GRACE = 30
"""Seconds that a stop waits for requests under way."""
MOST_CONNECTIONS = 500
STOPPING = (signal.SIGINT, signal.SIGTERM)


def is_loopback(host: str) -> bool:
    """True if only this machine can reach the address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.168.0.7")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0: a free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise InputError(f"--host {host} is no address of this machine.") from None
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(128)
    except OSError as problem:
        listening.close()
        raise InputError(
            f"the service cannot listen on {host}, port {port}: {problem.strerror}; give another --port or --host."
        ) from None
    return listening


def server(app: FastAPI) -> uvicorn.Server:
    """Uvicorn with our settings; it stops after ``should_exit = True``."""
    import uvicorn

    config = uvicorn.Config(
        app,
        access_log=False,  # addresses can hold tokens, and questions belong in no log but the store
        log_level="warning",
        server_header=False,
        ws="none",
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)


def serve(app: FastAPI, listening: socket.socket, *, stopping: Callable[[], None] = lambda: None) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are completed. ``stopping`` is called when a stop begins."""
    running = server(app)
    orderly = running.handle_exit

    def stop_in_order(number: int, frame: FrameType | None) -> None:
        stopping()
        orderly(number, frame)

    def stop(*_: object) -> None:
        stopping()
        running.should_exit = True

    running.handle_exit = stop_in_order  # type: ignore[method-assign, assignment]
    # Uvicorn stops in order, then raises the signal again for the former handler, which would end the process at once.
    # A signal that comes before Uvicorn listens for it must stop the service, too.
    former = [signal.signal(number, stop) for number in STOPPING]
    try:
        running.run(sockets=[listening])
    finally:
        for number, handler in zip(STOPPING, former, strict=True):
            signal.signal(number, handler)
        listening.close()
