"""Around every request: the Host header is one of ours, and every response forbids caching, framing and scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]\s/@]+))(?::[0-9]{1,5})?")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""A Content-Security-Policy that allows nothing."""
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
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in HEADERS.items()
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
