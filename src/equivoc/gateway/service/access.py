"""Who may use the service: names and the hashes of their tokens, in an SQLite file of their own.

A token has 256 random bits, so nobody can guess it or try all of them, however fast the hash is: SHA-256 suffices. The
slow hashes (scrypt, argon2) protect passwords that people choose; here they would only slow down every request.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from equivoc.errors import InputError, did_you_mean
from equivoc.files import check_replaceable

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
PREFIX = "equivoc_"
"""Programs that search files for secrets recognise a token by it."""
PATIENCE = 10.0
"""Seconds to wait while another process writes."""


@dataclass(frozen=True)
class Holder:
    """Somebody with a token."""

    name: str
    owner: bool
    """True: reads the log of everyone, and asks no questions. False: an analyst."""
    added: str
    """When the token was made: UTC, ISO 8601."""


class Tokens:
    """The tokens in a file. They are read anew for every request, so a removed token ends at once."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @staticmethod
    def beside(store: str | os.PathLike[str]) -> Tokens:
        """The tokens that belong to a store: ``gateway.sqlite`` has ``gateway.tokens.sqlite``.

        A file of its own: who gets a copy of the log does not get the hashes.

        >>> Tokens.beside("gateway.sqlite").path.name
        'gateway.tokens.sqlite'
        """
        path = Path(store)
        if not path.name:
            raise InputError(
                f"store is {os.fspath(store)!r}; give the name of a file, such as gateway.sqlite."
            )
        return Tokens(path.with_name(f"{path.stem}.tokens{path.suffix}"))

    def add(self, name: str, *, owner: bool = False) -> str:
        """A new token for a new name. It is returned once; only its hash is kept."""
        if not NAME.fullmatch(name):
            raise InputError(
                f"the name {name!r} is not allowed: give 1 to 64 letters, digits, or _ . @ -, beginning with a letter "
                "or a digit."
            )
        token = PREFIX + secrets.token_urlsafe(32)
        added = datetime.now(UTC).isoformat(timespec="seconds")
        with self._open(create=True) as file:
            try:
                file.execute("INSERT INTO tokens VALUES (?, ?, ?, ?)", (name, _hashed(token), owner, added))
            except sqlite3.IntegrityError:
                raise InputError(
                    f"{name!r} has a token already: remove it first, with equivoc gateway token remove {name}"
                ) from None
        return token

    def remove(self, name: str) -> None:
        """End a name's token; what the log holds about the name stays."""
        with self._open() as file:
            if not file.execute("DELETE FROM tokens WHERE name = ?", (name,)).rowcount:
                known = [row[0] for row in file.execute("SELECT name FROM tokens ORDER BY name")]
                raise InputError(f"nobody named {name!r} has a token{did_you_mean(name, known)}")

    def holders(self) -> list[Holder]:
        """Everyone with a token, by name."""
        if not self.path.exists():
            return []
        with self._open() as file:
            rows = file.execute("SELECT name, owner, added FROM tokens ORDER BY name").fetchall()
        return [Holder(name, bool(owner), added) for name, owner, added in rows]

    def holder(self, token: str) -> Holder | None:
        """Whose token this is; the time it takes does not depend on how much of it is right."""
        if not self.path.exists():
            return None
        given = _hashed(token)
        with self._open() as file:
            rows = file.execute("SELECT name, owner, added, hash FROM tokens").fetchall()
        found = None
        for name, owner, added, kept in rows:  # no early exit
            if hmac.compare_digest(given, kept):
                found = Holder(name, bool(owner), added)
        return found

    @contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction on the file."""
        if create and not self.path.exists():
            self._create()
        if not self.path.exists():
            raise InputError(
                f"there are no tokens in {self.path}: add one with equivoc gateway token add NAME"
            )
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as file, file:
                if create:
                    file.execute(
                        "CREATE TABLE IF NOT EXISTS tokens "
                        "(name TEXT PRIMARY KEY, hash BLOB NOT NULL, owner INTEGER NOT NULL, added TEXT NOT NULL)"
                    )
                yield file
        except sqlite3.Error as problem:
            raise InputError(f"the tokens in {self.path} cannot be used: {problem}") from None

    def _create(self) -> None:
        """An empty file that only its owner can read; SQLite would make it readable by all."""
        check_replaceable(self.path)
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as problem:
            raise InputError(f"{self.path} cannot be written: {problem.strerror}.") from None


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


# How often each analyst may ask: a token bucket for each name.


@dataclass
class RateLimit:
    """Allows ``per_minute`` requests per minute and name on average, and so many at once after a pause.

    >>> now = 0.0
    >>> limit = RateLimit(2, clock=lambda: now)
    >>> [limit.wait("ann") for _ in range(3)], limit.wait("bob")
    ([0.0, 0.0, 30.0], 0.0)
    >>> now = 30.0
    >>> limit.wait("ann"), limit.wait("ann")
    (0.0, 30.0)
    """

    per_minute: int
    clock: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    """For each name: requests left, and when that was computed."""

    def wait(self, name: str) -> float:
        """0 if the request is allowed (and counted); otherwise the seconds until the next one is."""
        now, full = self.clock(), float(self.per_minute)
        left, before = self._left.get(name, (full, now))
        left = min(full, left + (now - before) * self.per_minute / 60)
        if left >= 1:
            self._left[name] = (left - 1, now)
            return 0.0
        self._left[name] = (left, now)
        return (1 - left) * 60 / self.per_minute
