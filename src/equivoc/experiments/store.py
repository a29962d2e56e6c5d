"""An SQLite file of finished cells in a folder: private, resumable, and without any value of the data."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from equivoc.data.fingerprint import Facts, content_fingerprint
from equivoc.errors import InputError
from equivoc.files import writing_into

# A lock: one process at a time computes a study, or a comparison, in a folder.


@contextmanager
def only_here(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock of ``what`` is computed in the folder, such as "study".

    InputError if another process holds the lock; the system releases it when the process ends.

    Without file locks (Windows, some network disks) nothing is locked: two processes then compute the same cells,
    which changes no result.
    """
    path = folder / f"{what}.lock"
    handle = _held(path, folder, what)
    try:
        yield
    finally:
        if handle is not None:
            path.unlink(missing_ok=True)  # removed before the lock is released, so that it is still ours
            os.close(handle)


def _held(path: Path, folder: Path, what: str) -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError as problem:
            raise InputError(f"the {what} folder {folder} cannot be used: {problem.strerror}.") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise InputError(
                f"another process is computing a {what} in {folder}; wait until it ends, or choose another folder."
            ) from None
        except OSError:  # a disk without locks
            os.close(handle)
            path.unlink(missing_ok=True)
            return None
        if _is_at(handle, path):
            return handle
        os.close(handle)  # removed by its owner while we opened it


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


# A digest for each row of a store, so that damaged bytes are found before a figure is believed.

COLUMN = "digest"
"""The last column of every table."""


def row_digest(table: str, values: Sequence[Any]) -> str:
    """A digest of a row as SQLite gives it back.

    >>> row_digest("results", ["a", 1, -0.0]) == row_digest("results", ["a", 1, 0.0])
    True
    >>> row_digest("results", ["a", 1, 1.0]) == row_digest("results", ["a", 1, 1])
    False
    """
    # SQLite keeps no negative zero.
    plain = [
        each.hex() if isinstance(each, bytes) else each + 0.0 if isinstance(each, float) else each
        for each in values
    ]
    return sha256(json.dumps([table, *plain]).encode()).hexdigest()


def insert_row(connection: sqlite3.Connection, table: str, values: Sequence[Any]) -> None:
    """Write a row and its digest in place of one with the same key."""
    places = ", ".join("?" * (len(values) + 1))
    connection.execute(
        f"INSERT OR REPLACE INTO {table} VALUES ({places})", (*values, row_digest(table, values))
    )


def have_digests(connection: sqlite3.Connection, tables: Mapping[str, Sequence[str]]) -> bool:
    """False if no table has a column for them, as in stores of earlier versions."""
    return any(COLUMN in _columns(connection, table) for table in tables)


def wrong_rows(connection: sqlite3.Connection, tables: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What is wrong with the database, or with rows that do not fit their digest."""
    if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        yield "its pages or indexes contradict each other"
    for table, columns in tables.items():
        wrong = sum(
            digest != row_digest(table, values)
            for *values, digest in connection.execute(
                f"SELECT {', '.join((*columns, COLUMN))} FROM {table} NOT INDEXED"
            )
        )
        if wrong:
            yield f"{wrong:,} of its rows do not fit their digest"


def add_digests(connection: sqlite3.Connection, tables: Mapping[str, Sequence[str]]) -> None:
    """Add the column and the digest of every row as it is."""
    for table, columns in tables.items():
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {COLUMN} TEXT")
        rows = connection.execute(f"SELECT {', '.join(columns)}, rowid FROM {table}").fetchall()
        for *values, number in rows:
            connection.execute(
                f"UPDATE {table} SET {COLUMN} = ? WHERE rowid = ?", (row_digest(table, values), number)
            )


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


SECONDS_TO_WAIT = 10
SALT_BYTES = 32
_DESCRIPTION = dict.fromkeys(("format", "salt", "data", "facts", "contents"), "TEXT NOT NULL")
_DESCRIPTION["salt"] = "BLOB NOT NULL"


@dataclass(frozen=True)
class StoreKind:
    """What a store holds, and how it is checked."""

    what: str
    """The name of its description's table, and in messages: "study"."""
    format: str
    before_digests: str
    """The format of earlier versions, whose rows have no digest."""
    tables: Mapping[str, Mapping[str, str]]
    """The tables of cells, with the type of each column; ``results`` is one of them."""
    key: Mapping[str, str]
    """The primary key of each table."""
    are_facts: Callable[[Any], bool]
    """True if a description has the right form: a damaged store may contain anything."""
    differences: Callable[[Facts, Facts, bool], Iterable[str]]
    """Why stored cells cannot be used: from the stored and the requested description, and whether data are equal."""
    old_formats: Mapping[str, str] = field(default_factory=dict)
    """Formats of earlier versions, and why they cannot be used."""

    @property
    def file(self) -> str:
        return f"{self.what}.sqlite"

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """All tables with their columns, without the digest."""
        return {table: tuple(columns) for table, columns in {self.what: _DESCRIPTION, **self.tables}.items()}


@dataclass(frozen=True, eq=False)
class Asked:
    """What is requested: its description, and fingerprints of its data and of its techniques' files."""

    facts: Facts
    data: Callable[[bytes], str]
    """The fingerprint of the data, with a salt."""
    contents: Mapping[str, str | None]
    """By notation: a digest of the files that the notation names."""


@dataclass(frozen=True, eq=False)
class StoreFile:
    """An open store."""

    kind: StoreKind
    folder: Path
    facts: Facts
    """The description of what was requested last."""
    contents: Mapping[str, str]
    """By notation: the keyed fingerprint of the files that the notation names."""
    connection: sqlite3.Connection
    remarks: tuple[str, ...] = ()
    """What to know about the stored cells, one sentence each."""

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Changes that are on disk completely or not at all after the block."""
        with _said(self.kind, self.folder), self.connection as connection:
            yield connection

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """The rows of one statement, which reads a consistent state even if another process adds cells."""
        with _said(self.kind, self.folder):
            return self.connection.execute(query, values).fetchall()

    def damaged(self, why: object) -> InputError:
        """The error about a damaged file."""
        return _damaged(self.kind, self.folder, why)


@contextmanager
def open_to_write(kind: StoreKind, folder: Path, asked: Asked) -> Iterator[StoreFile]:
    """A new store, or the existing one if its cells can be used for what is asked.

    Raises InputError if they cannot, if the folder cannot be written, or if another process computes in it. A new store
    is removed if an InputError ends the block before a cell is finished.
    """
    with writing_into(folder, private=True), only_here(folder, kind.what):
        path = folder / kind.file
        new, useless = not path.exists(), False
        before: tuple[str, ...] = ()
        if new:
            _make_private_file(kind, path)
        elif _begun(path):  # check before changing anything: it may be another program's database
            with open_to_read(kind, folder) as there:
                before = there.remarks
        with _said(kind, folder):
            connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT)
        try:
            with _said(kind, folder):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                _begin(kind, connection, asked)
            salt, data, stored, _ = _read(kind, folder, connection)
            different = list(kind.differences(stored, asked.facts, asked.data(salt) == data))
            if different:
                raise InputError(
                    f"the {kind.what} folder {folder} belongs to another {kind.what}: {'; '.join(different)}. "
                    f"Choose another folder, or remove {kind.file} from this one."
                )
            contents = _keyed(asked.contents, salt)
            with _said(kind, folder), connection:
                connection.execute("BEGIN IMMEDIATE")
                if before:
                    add_digests(connection, kind.columns)
                connection.execute(f"DELETE FROM {kind.what}")
                now = (kind.format, salt, data, json.dumps(asked.facts), json.dumps(contents))
                insert_row(connection, kind.what, now)
            yield StoreFile(kind, folder, asked.facts, contents, connection, before)
        except InputError:
            with suppress(sqlite3.Error):
                useless = new and not connection.execute("SELECT count(*) FROM results").fetchone()[0]
            raise
        finally:
            connection.close()
            if useless:
                path.unlink(missing_ok=True)


@contextmanager
def open_to_read(kind: StoreKind, folder: Path) -> Iterator[StoreFile]:
    """A finished or unfinished store; nothing is changed."""
    path = folder / kind.file
    if not path.exists():
        raise InputError(f"there is no {kind.what} in {folder}: it has no file {kind.file}.")
    if not path.is_file():
        raise InputError(f"{path} is not a file; choose another folder.")
    # In a read-only folder SQLite reads a database with a log only if it is declared immutable.
    writer_left = not path.with_name(f"{kind.file}-wal").exists()
    address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if writer_left else ''}"
    with _said(kind, folder):
        connection = sqlite3.connect(address, uri=True, timeout=SECONDS_TO_WAIT)
    try:
        _, _, facts, contents = _read(kind, folder, connection)
        with _said(kind, folder):
            digested = have_digests(connection, kind.columns)
            for wrong in wrong_rows(connection, kind.columns if digested else {}):
                raise _damaged(kind, folder, wrong)
        remarks = () if digested else (_before_digests(kind, folder),)
        yield StoreFile(kind, folder, facts, contents, connection, remarks)
    finally:
        connection.close()


def store_folder(given: object) -> Path:
    """The path of a store's folder from the caller's argument."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in os.fspath(given):
        raise InputError(f"store is {given!r}; give the path of a folder.")
    return Path(given)


def _make_private_file(kind: StoreKind, path: Path) -> None:
    """An empty file that only its owner can read; SQLite gives its log the same permissions."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as problem:
        raise InputError(
            f"the {kind.what} folder {path.parent} cannot be used: {problem.strerror}."
        ) from None


def _begun(path: Path) -> bool:
    """True if the file is not empty: a computation killed at its start leaves an empty file."""
    return not path.is_file() or path.stat().st_size > 0


def _begin(kind: StoreKind, connection: sqlite3.Connection, asked: Asked) -> None:
    """Create the tables and write the description in one transaction, unless they exist."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        there = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not there:
            for table, columns in {kind.what: _DESCRIPTION, **kind.tables}.items():
                key = f", PRIMARY KEY ({kind.key[table]})" if table in kind.key else ""
                typed = ", ".join(f"{name} {how}" for name, how in columns.items())
                connection.execute(f"CREATE TABLE {table} ({typed}, {COLUMN} TEXT{key})")
            salt = secrets.token_bytes(SALT_BYTES)
            facts, contents = json.dumps(asked.facts), json.dumps(_keyed(asked.contents, salt))
            insert_row(connection, kind.what, (kind.format, salt, asked.data(salt), facts, contents))


def _keyed(contents: Mapping[str, str | None], salt: bytes) -> dict[str, str]:
    return {notation: content_fingerprint(content, salt) for notation, content in contents.items()}


def _read(
    kind: StoreKind, folder: Path, connection: sqlite3.Connection
) -> tuple[bytes, str, Facts, dict[str, str]]:
    """Salt, fingerprint of the data, facts, and fingerprints of the techniques' files."""
    path = folder / kind.file
    with _said(kind, folder):
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        ours = {kind.what, "results"} <= tables
        found = connection.execute(f"SELECT format FROM {kind.what}").fetchone() if ours else None
        if found is not None and found[0] in kind.old_formats:
            raise InputError(
                f"{path} was written by an earlier version of equivoc and {kind.old_formats[found[0]]}: "
                f"remove it, and run the {kind.what} again."
            )
        formats = (kind.format, kind.before_digests)
        if found is None or found[0] not in formats:
            raise InputError(
                f"{path} is not a {kind.what} of this version of equivoc; choose another folder."
            )
        if (found[0] == kind.format) != have_digests(connection, kind.columns):
            raise _damaged(kind, folder, "its format does not fit its tables")
        query = f"SELECT salt, data, facts, contents FROM {kind.what}"
        salt, data, *texts = connection.execute(query).fetchone()
    facts, contents = (json_or_none(text) for text in texts)
    fine = isinstance(salt, bytes) and len(salt) == SALT_BYTES and isinstance(data, str)
    if not (fine and kind.are_facts(facts) and isinstance(contents, dict)):
        raise _damaged(kind, folder, f"the {kind.what}'s description cannot be read")
    return salt, data, facts, contents


def json_or_none(text: Any) -> Any:
    """The value of a JSON text; None if it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def _before_digests(kind: StoreKind, folder: Path) -> str:
    return (
        f"{folder / kind.file} is of an earlier version of equivoc, which kept no digest of its figures: those that "
        "were finished are taken as they are."
    )


def _damaged(kind: StoreKind, folder: Path, why: object) -> InputError:
    return InputError(
        f"{folder / kind.file} is damaged, or not a {kind.what}: {why}. Choose another folder, or remove the file to "
        "start again."
    )


@contextmanager
def _said(kind: StoreKind, folder: Path) -> Iterator[None]:
    """Turn errors of the file into an InputError."""
    try:
        yield
    except sqlite3.OperationalError as problem:
        if str(problem).startswith("no such"):
            raise _damaged(kind, folder, problem) from None
        if str(problem).startswith("Could not decode"):  # and quotes it, be it the salt
            raise _damaged(kind, folder, "a text in it cannot be read") from None
        raise InputError(
            f"the {kind.what} folder {folder} cannot be used: {problem}. Finished cells stay in it: when this is "
            f"fixed, run the same {kind.what} again to continue."
        ) from None
    except (UnicodeError, OverflowError):
        raise _damaged(kind, folder, "a text in it cannot be read") from None
    except sqlite3.Error as problem:
        reason = str(problem).partition(" - ")[0]  # what follows quotes the file
        raise _damaged(kind, folder, reason) from None
