"""Who may ask: the token (as an address or a cookie), the Origin of a page, a header that no other page can send."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from fastapi import Request

from equivoc.serving.guard import plain_host
from equivoc.serving.requests import RequestError

COOKIE = "equivoc"
HEADER = "x-equivoc"
"""A header that a page of another origin cannot send without asking first, which this server never allows."""
SAFE = ("GET", "HEAD")
PORTS = {"http": 80, "https": 443}


class Doorkeeper:
    """Knows the token."""

    def __init__(self, token: str, *, hosts: Iterable[str]) -> None:
        self._digest = hashlib.sha256(token.encode()).digest()
        self._hosts = {plain_host(host) for host in hosts}

    def knows(self, given: str | None) -> bool:
        """True for the token; how long this takes does not depend on how much of it is right."""
        if given is None:
            return False
        return hmac.compare_digest(hashlib.sha256(given.encode("utf-8", "replace")).digest(), self._digest)

    def check(self, request: Request) -> None:
        """RequestError unless the request has the token and comes from our own page."""
        if not self.holds_token(request):
            raise RequestError(401, "this needs the token: open the address that equivoc serve has printed.")
        if not self._of_our_page(request):
            raise RequestError(403, "this request comes from another page.")
        if request.method not in SAFE and request.headers.get(HEADER) != "1":
            raise RequestError(403, "this request does not come from the page.")

    def holds_token(self, request: Request) -> bool:
        """True if the request has the token, as a cookie or as ``Authorization: Bearer``."""
        return self.knows(_credentials(request))

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


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def _credentials(request: Request) -> str | None:
    given = request.headers.getlist("authorization")
    if given:
        scheme, _, rest = given[0].partition(" ")
        return rest.strip() if len(given) == 1 and scheme.lower() == "bearer" else None
    found: str | None = None
    for header in request.headers.getlist("cookie"):
        try:
            morsel = SimpleCookie(header).get(cookie_name(request))
        except CookieError:
            continue
        if morsel is not None:
            found = morsel.value
    return found
