"""An SQLite file of finished cells in a folder: private, resumable, and without any value of the data."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivoc.errors import InputError
from equivoc.files import writing_into
from equivoc.study.fingerprint import Facts, content_fingerprint
from equivoc.study.resumable.folder_lock import only_here

SECONDS_TO_WAIT = 10
SALT_BYTES = 32


@dataclass(frozen=True)
class StoreKind:
    """What a store holds, and how it is checked."""

    what: str
    """The name of its description's table, and in messages: "study"."""
    format: str
    tables: str
    """The statements that create the tables of cells; ``results`` is one of them."""
    are_facts: Callable[[Any], bool]
    """True if a description has the right form: a damaged store may contain anything."""
    differences: Callable[[Facts, Facts, bool], Iterable[str]]
    """Why stored cells cannot be used: from the stored and the requested description, and whether data are equal."""
    old_formats: Mapping[str, str] = field(default_factory=dict)
    """Formats of earlier versions, and why they cannot be used."""

    @property
    def file(self) -> str:
        return f"{self.what}.sqlite"


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
        if new:
            _make_private_file(kind, path)
        elif _begun(path):  # check before changing anything: it may be another program's database
            with open_to_read(kind, folder):
                pass
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
                now = (json.dumps(asked.facts), json.dumps(contents))
                connection.execute(f"UPDATE {kind.what} SET facts = ?, contents = ?", now)
            yield StoreFile(kind, folder, asked.facts, contents, connection)
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
        yield StoreFile(kind, folder, facts, contents, connection)
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
            columns = "format TEXT NOT NULL, salt BLOB NOT NULL, data TEXT NOT NULL, facts TEXT NOT NULL"
            connection.execute(f"CREATE TABLE {kind.what} ({columns}, contents TEXT NOT NULL)")
            for statement in filter(str.strip, kind.tables.split(";")):
                connection.execute(statement)
            salt = secrets.token_bytes(SALT_BYTES)
            facts, contents = json.dumps(asked.facts), json.dumps(_keyed(asked.contents, salt))
            row = (kind.format, salt, asked.data(salt), facts, contents)
            connection.execute(f"INSERT INTO {kind.what} VALUES (?, ?, ?, ?, ?)", row)


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
        if found is None or found[0] != kind.format:
            raise InputError(
                f"{path} is not a {kind.what} of this version of equivoc; choose another folder."
            )
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
        if str(problem).startswith(("no such", "Could not decode")):
            raise _damaged(kind, folder, problem) from None
        raise InputError(
            f"the {kind.what} folder {folder} cannot be used: {problem}. Finished cells stay in it: when this is "
            f"fixed, run the same {kind.what} again to continue."
        ) from None
    except sqlite3.DatabaseError as problem:
        raise _damaged(kind, folder, problem) from None
