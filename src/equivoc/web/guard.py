"""Who may ask: a browser that has exchanged a token for a cookie, from our own page, with a header of that page.

A token stands in an address, and addresses stay in histories, synchronised profiles and lists of processes. So each
is good for one exchange. What it is exchanged for, the secret of the session, stands in a cookie and nowhere else.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from fastapi import Request

from equivoc.serving.serving import RequestError, plain_host

COOKIE = "equivoc"
HEADER = "x-equivoc"
"""A header that a page of another origin cannot send without asking first, which this server never allows."""
SAFE = ("GET", "HEAD")
PORTS = {"http": 80, "https": 443}
MOST_TOKENS = 16
"""Tokens that wait for their exchange; a further one ends the oldest."""


class Doorkeeper:
    """Gives tokens, exchanges them, and knows the secret of the session."""

    def __init__(self, *, hosts: Iterable[str]) -> None:
        self._secret = secrets.token_urlsafe(32)
        self._hosts = {plain_host(host) for host in hosts}
        self._tokens: list[bytes] = []

    def new_token(self) -> str:
        """A token that nobody can guess, good for one exchange."""
        token = secrets.token_urlsafe(32)
        self._tokens = [*self._tokens, _digest(token)][-MOST_TOKENS:]
        return token

    def exchange(self, token: str) -> str | None:
        """The secret of the session for a token that was not used before; None for any other."""
        given = _digest(token)
        left = [each for each in self._tokens if not hmac.compare_digest(each, given)]
        if len(left) == len(self._tokens):
            return None
        self._tokens = left
        return self._secret

    def check(self, request: Request) -> None:
        """RequestError unless the request has the cookie and comes from our own page."""
        if not self.knows(request):
            raise RequestError(
                401, "this needs the page's cookie: open the address that equivoc serve has printed."
            )
        if not self._of_our_page(request):
            raise RequestError(403, "this request comes from another page.")
        if request.method not in SAFE and request.headers.get(HEADER) != "1":
            raise RequestError(403, "this request does not come from the page.")

    def knows(self, request: Request) -> bool:
        """True if the request has the cookie; how long this takes does not depend on how much of it is right."""
        given = _cookie(request)
        return given is not None and hmac.compare_digest(_digest(given), _digest(self._secret))

    def _of_our_page(self, request: Request) -> bool:
        """True unless the browser says that another page sends the request."""
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return False
        given = request.headers.getlist("origin")
        if not given:
            return True
        try:
            origin = urlsplit(given[0])
            host, port = plain_host(origin.hostname or ""), origin.port or PORTS.get(origin.scheme)
        except ValueError:
            return False
        # A proxy with TLS changes the scheme, and with it the usual port, which the Host header then leaves out.
        own = request.url.port or PORTS.get(origin.scheme)
        return len(given) == 1 and origin.scheme in PORTS and host in self._hosts and port == own


def cookie_name(request: Request) -> str:
    """The cookie's name; it has the port, as browsers share cookies among all ports of a machine."""
    return f"{COOKIE}-{request.url.port or 0}"


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _cookie(request: Request) -> str | None:
    found: str | None = None
    for header in request.headers.getlist("cookie"):
        try:
            morsel = SimpleCookie(header).get(cookie_name(request))
        except CookieError:
            continue
        if morsel is not None:
            found = morsel.value
    return found
