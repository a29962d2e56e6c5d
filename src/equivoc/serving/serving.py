"""Around every request: the Host header is one of ours, and every response forbids caching, framing and scripts."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import signal
import socket
import traceback
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from equivoc.errors import InputError
from equivoc.text import printable

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]\s/@]+))(?::[0-9]{1,5})?")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""A Content-Security-Policy that allows nothing."""
LAST = (400, 401, 404, 405)
"""After a response with this status the connection is closed: who has no token gets one response from it."""
HEADERS = {
    "content-security-policy": CLOSED,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware. A page on the web whose name is made to lead to this machine sends its own name as Host."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], refusal: str) -> None:
        self.app = app
        self.hosts = {plain_host(host) for host in hosts}
        self.refusal = refusal
        """What a client is told that sends another name."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                wanted = {**HEADERS, **({"connection": "close"} if message["status"] in LAST else {})}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in wanted.items()
                        if name.encode() not in there
                    ),
                ]
            await send(message)

        given = [value for name, value in scope["headers"] if name.lower() == b"host"]
        if len(given) == 1 and named_host(given[0].decode("latin-1")) in self.hosts:
            await self.app(scope, receive, with_headers)
            return
        body = json.dumps({"error": self.refusal})
        start = {
            "type": "http.response.start",
            "status": 400,
            "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
        }
        await with_headers(start)
        await send({"type": "http.response.body", "body": body.encode()})


def named_host(header: str) -> str | None:
    """The name in a Host header, without the port; None if the header is malformed.

    >>> named_host("Localhost:8642"), named_host("[::1]:80"), named_host("a.org."), named_host("[::1]a.org")
    ('localhost', '::1', 'a.org', None)
    """
    found = HOST.fullmatch(header.strip())
    return None if found is None else plain_host(found["six"] or found["name"])


def plain_host(name: str) -> str:
    """The name as it is compared: lower case, without brackets and final dot."""
    return name.strip().lower().removeprefix("[").removesuffix("]").rstrip(".")


# Running a service: one process, a socket that is bound before anything is promised, an orderly stop.

GRACE = 30
"""Seconds that a stop waits for requests under way."""
MOST_CONNECTIONS = 2000
"""Those that wait are limited before; beyond this number, a request is answered by 503."""
BACKLOG = 128
"""Connections that are accepted at once."""
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
        listening.listen(BACKLOG)
    except OSError as problem:
        listening.close()
        raise InputError(
            f"the service cannot listen on {host}, port {port}: {problem.strerror}; give another --port or --host."
        ) from None
    return listening


def server(app: FastAPI) -> uvicorn.Server:
    """Uvicorn with our settings; it stops after ``should_exit = True``."""
    import uvicorn

    from equivoc.serving.connections import limited_connections

    config = uvicorn.Config(
        app,
        access_log=False,  # addresses can hold tokens, and questions belong in no log but the store
        log_level="warning",
        server_header=False,
        ws="none",
        proxy_headers=False,
        http=limited_connections(),
        limit_concurrency=MOST_CONNECTIONS,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are completed."""
    running = server(app)

    def stop(*_: object) -> None:
        running.should_exit = True

    # Uvicorn stops in order, then raises the signal again for the former handler, which would end the process at once.
    # A signal that comes before Uvicorn listens for it must stop the service, too.
    former = [signal.signal(number, stop) for number in STOPPING]
    try:
        running.run(sockets=[listening])
    finally:
        for number, handler in zip(STOPPING, former, strict=True):
            signal.signal(number, handler)
        listening.close()


# Requests and their refusals: bodies of limited size, each failure as one sentence, no stack trace.

BODY_PATIENCE = 10.0
"""Seconds in which a body must arrive."""
LONGEST_ERROR = 500

Handler = Callable[[Request], Awaitable[Response]]


class RequestError(Exception):
    """A request that is not served: status, a sentence, and headers."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


async def limited_body(request: Request, limit: int) -> bytes:
    """The request's body; RequestError if it has more bytes than the ``limit`` or does not arrive in time."""
    length = request.headers.get("content-length", "")
    too_large = RequestError(413, f"a request has at most {limit:,} bytes.", Connection="close")
    if length.isdigit() and int(length) > limit:
        raise too_large
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            async for piece in request.stream():
                found += piece
                if len(found) > limit:
                    raise too_large
    except TimeoutError:
        raise RequestError(408, "the request did not arrive in time.", Connection="close") from None
    return bytes(found)


def parsed_json(body: bytes, wanted: str) -> Any:
    """The JSON of a body; RequestError says what is ``wanted``."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise RequestError(400, f"the body is not JSON: {wanted}") from None


def safely(
    handler: Handler, *, log: logging.Logger, mistake: int = 422, failed: str
) -> Callable[[Request], Awaitable[Response]]:
    """The handler with each failure as one sentence; ``mistake`` is the status of an InputError.

    What is logged of a bug is its kind and place: a message could hold a value. ``failed`` is what the client is told.
    """

    async def served(request: Request) -> Response:
        try:
            return await handler(request)
        except RequestError as refusal:
            return error_response(refusal.status, str(refusal), headers=refusal.headers)
        except InputError as wrong:
            return error_response(mistake, str(wrong))
        except Exception as problem:
            place = traceback.extract_tb(problem.__traceback__)[-1]
            log.error("%s in %s, line %s", type(problem).__name__, place.name, place.lineno)
            return error_response(500, failed)

    return served


def error_response(status: int, sentence: str, *, headers: dict[str, str] | None = None) -> Response:
    """The sentence as JSON; a very long one is shortened in the middle."""
    text = printable(sentence)
    if len(text) > LONGEST_ERROR:
        text = f"{text[: LONGEST_ERROR // 2]} … {text[-LONGEST_ERROR // 2 :]}"
    return JSONResponse({"error": text}, status_code=status, headers=headers)
