"""The log of a gateway in an SQLite file: every question, decision and answer, on disk before it is given.

The file is private (mode 0600) and holds answers, but no record of a person. One row per question, written in one
transaction with full synchronisation: after a crash at any moment, what was answered is in the log. Before and after
each entry the file must be the one that was opened, with the last entry that was written.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from equivoc.errors import InputError
from equivoc.gateway.pinned_down import PinnedDown
from equivoc.gateway.policy import Policy, looser_in
from equivoc.gateway.store_lock import StoreLock

Decision = Literal["answered", "repeated", "refused", "invalid"]
"""Answered for the first time; answered again; refused; not a question that the gateway can read."""
FORMAT = "equivoc gateway 1"
SALT_BYTES = 32
_TABLES = """
CREATE TABLE gateway (format TEXT NOT NULL, salt BLOB NOT NULL, data TEXT NOT NULL);
CREATE TABLE policies (number INTEGER PRIMARY KEY, time TEXT NOT NULL, after INTEGER NOT NULL, policy TEXT NOT NULL);
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, analyst TEXT NOT NULL, question TEXT NOT NULL,
    decision TEXT NOT NULL, reason TEXT NOT NULL, value TEXT NOT NULL
);
CREATE TABLE pools (scope TEXT PRIMARY KEY, statements INTEGER NOT NULL, answers BLOB NOT NULL, databases BLOB NOT NULL)
"""
_PINNED = """
CREATE TABLE IF NOT EXISTS pinned_down (number INTEGER PRIMARY KEY, exact INTEGER, below INTEGER, unsettled INTEGER)
"""
"""Stores of earlier versions lack it."""


@dataclass(frozen=True)
class SavedPool:
    """Databases drawn from the answers up to a point of the log; they save drawing them anew at the next start."""

    statements: int
    """How many statements of its scope had been answered."""
    answers: bytes
    """The digest of their answers."""
    databases: bytes


@dataclass(frozen=True)
class Entry:
    """One question and what became of it."""

    number: int
    """Ascending from 1, without gaps."""
    time: str
    """In UTC."""
    analyst: str
    question: str
    """The question written anew from what was parsed; for an invalid one, its beginning as it was sent."""
    decision: Decision
    reason: str
    value: Any
    """The answer: a number, a list with a dictionary for each group, or None."""


class History:
    """An open log."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: StoreLock, salt: bytes) -> None:
        self.path = path
        self.salt = salt
        """Secret random bytes of this store."""
        self._connection = connection
        self._lock = lock
        self._last = _last_entry(connection)
        lock.look()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        data: Callable[[bytes], str],
        policy: Policy,
        accept_looser_policy: bool = False,
    ) -> History:
        """A new store, or the existing one if it belongs to the same data and its policy was not stricter.

        ``data`` gives a fingerprint of the data, keyed with a salt.
        """
        if not path.parent.is_dir():
            raise InputError(f"the store {path} cannot be created: {path.parent} is not a folder.")
        if path.exists() and not path.is_file():
            raise InputError(f"the store {path} is not a regular file; give another path.")
        lock = StoreLock(path)
        try:
            with _said(path):
                _check_kind(path, lock)
                connection = _connect(lock.path)
            try:
                with _said(path):
                    salt = _begin(connection, path, data, new=lock.new)
                    _check_whole(connection, path)
                    _take_policy(connection, path, policy, accept_looser_policy)
                    return cls(path, connection, lock, salt)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.release()
            raise

    def entries(self, analyst: str | None = None) -> tuple[Entry, ...]:
        """All entries in their order, or those of one analyst."""
        where = "" if analyst is None else " WHERE analyst = ?"
        columns = "number, time, analyst, question, decision, reason, value"
        query = f"SELECT {columns} FROM entries{where} ORDER BY number"
        with _said(self.path):
            rows = self._connection.execute(query, () if analyst is None else (analyst,)).fetchall()
        return tuple(
            Entry(number, time, who, question, decision, reason, self._value(number, value))
            for number, time, who, question, decision, reason, value in rows
        )

    def _value(self, number: int, text: Any) -> Any:
        try:
            return json.loads(text)
        except (TypeError, ValueError, RecursionError):
            raise InputError(f"the store {self.path} is damaged: entry {number} cannot be read.") from None

    def policies(self) -> tuple[tuple[str, int, str], ...]:
        """Every policy that was in force: since when, after which entry, and its text."""
        with _said(self.path):
            found = self._connection.execute("SELECT time, after, policy FROM policies ORDER BY number")
            return tuple(found.fetchall())

    def record(self, analyst: str, question: str, decision: Decision, reason: str, value: Any) -> Entry:
        """Write one entry; on disk, in the file that was opened, when this returns."""
        time, text = _now(), json.dumps(value, default=str)
        with self._writing():
            row = (time, analyst, question, decision, reason, text)
            query = "INSERT INTO entries (time, analyst, question, decision, reason, value) VALUES (?, ?, ?, ?, ?, ?)"
            number = self._connection.execute(query, row).lastrowid
            assert number is not None
            last = (number, *row)
        self._last = last
        return Entry(number, time, analyst, question, decision, reason, json.loads(text))

    def save_pool(self, scope: str, pool: SavedPool) -> None:
        """Replace the saved pool of a scope."""
        with self._writing():
            row = (scope, pool.statements, pool.answers, pool.databases)
            self._connection.execute("INSERT OR REPLACE INTO pools VALUES (?, ?, ?, ?)", row)

    def note(self, pinned: PinnedDown) -> None:
        """Keep whom the answers up to an entry pinned down."""
        with self._writing():
            row = (pinned.number, pinned.exact, pinned.below, pinned.unsettled)
            self._connection.execute("INSERT OR REPLACE INTO pinned_down VALUES (?, ?, ?, ?)", row)

    def last_note(self) -> PinnedDown | None:
        """The latest of them."""
        query = "SELECT number, exact, below, unsettled FROM pinned_down ORDER BY number DESC LIMIT 1"
        with _said(self.path):
            row = self._connection.execute(query).fetchone()
        return None if row is None else PinnedDown(*row)

    def pools(self) -> dict[str, SavedPool]:
        """The saved pool of each scope."""
        with _said(self.path):
            rows = self._connection.execute(
                "SELECT scope, statements, answers, databases FROM pools"
            ).fetchall()
        return {scope: SavedPool(*rest) for scope, *rest in rows}

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction, if the store is still the file that was opened and ends with the entry last written."""
        self._lock.check()
        with _said(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            if _last_entry(self._connection) != self._last:
                raise InputError(f"the last entry of the store {self.path} is not the one last written.")
            yield
        self._lock.check(after_writing=True)
        self._lock.look()

    def close(self) -> None:
        """Close the file and release its lock."""
        self._connection.close()
        self._lock.release()


def _check_kind(path: Path, lock: StoreLock) -> None:
    """InputError if the file is neither new nor a gateway's. Changes nothing."""
    if lock.new:
        return
    # Immutable: SQLite creates no files beside it. Tables that only the write-ahead log has are not seen.
    looked = sqlite3.connect(f"{lock.path.as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        tables = {row[0] for row in looked.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        looked.close()
    if tables and not {"gateway", "policies", "entries", "pools"} <= tables:
        raise InputError(f"{path} is not a gateway's store; give another path.")


def _connect(path: Path) -> sqlite3.Connection:
    try:
        path.chmod(0o600)
    except OSError as problem:
        raise InputError(f"the store {path} cannot be used: {problem.strerror}.") from None
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _begin(connection: sqlite3.Connection, path: Path, data: Callable[[bytes], str], *, new: bool) -> bytes:
    """Create the tables in one transaction, or check that they belong to the same data; the salt."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            if not new:
                raise InputError(
                    f"the store {path} is an empty file. If answers were ever stored in it, put its latest state back; "
                    "if not, remove it, and a new store is made."
                )
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            salt = secrets.token_bytes(SALT_BYTES)
            connection.execute("INSERT INTO gateway VALUES (?, ?, ?)", (FORMAT, salt, data(salt)))
    connection.execute(_PINNED)
    found = connection.execute("SELECT format, salt, data FROM gateway").fetchall()
    if len(found) != 1 or found[0][0] != FORMAT or not isinstance(found[0][1], bytes):
        raise InputError(f"{path} is not a store of this version of equivoc; give another path.")
    salt = found[0][1]
    if data(salt) != found[0][2]:
        raise InputError(
            f"the store {path} holds answers about other data: answers before and after a change combine into what "
            "single people changed. Start a new store only if no one can combine both."
        )
    return salt


def _check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """InputError if the file is damaged, or entries are missing: an older copy of a part of it was put back."""
    if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        raise InputError(f"the store {path} is damaged: its pages or indexes contradict each other.")
    counts = "SELECT count(*), coalesce(min(number), 1), coalesce(max(number), 0) FROM entries"
    count, first, last = connection.execute(counts).fetchone()
    given = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
    if not (first == 1 and count == last == (0 if given is None else given[0])):
        raise InputError(f"the store {path} is damaged: some of its entries are missing.")


def _last_entry(connection: sqlite3.Connection) -> tuple[Any, ...] | None:
    columns = "number, time, analyst, question, decision, reason, value"
    row = connection.execute(f"SELECT {columns} FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    return None if row is None else tuple(row)


def _take_policy(connection: sqlite3.Connection, path: Path, policy: Policy, accept_looser: bool) -> None:
    last = connection.execute("SELECT policy FROM policies ORDER BY number DESC LIMIT 1").fetchone()
    if last is not None and last[0] == policy.text():
        return
    looser = [] if last is None else looser_in(last[0], policy)
    if looser and not accept_looser:
        raise InputError(
            f"the store {path} was kept under a stricter policy: {'; '.join(looser)}. Give that policy, or accept "
            "the change explicitly (accept_looser_policy=True)."
        )
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        after = connection.execute("SELECT coalesce(max(number), 0) FROM entries").fetchone()[0]
        query = "INSERT INTO policies (time, after, policy) VALUES (?, ?, ?)"
        connection.execute(query, (_now(), after, policy.text()))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Errors of the file as an InputError."""
    try:
        yield
    except sqlite3.OperationalError as problem:
        if str(problem).startswith("Could not decode"):  # and quotes it, be it the salt
            raise InputError(f"{path} is damaged, or not a gateway's store: a text cannot be read.") from None
        raise InputError(f"the store {path} cannot be used: {problem}.") from None
    except sqlite3.DatabaseError as problem:
        reason = str(problem).partition(" - ")[0]  # what follows quotes the file
        raise InputError(f"{path} is damaged, or not a gateway's store: {reason}.") from None
    except UnicodeError:
        raise InputError(f"{path} is damaged, or not a gateway's store: a text cannot be read.") from None
