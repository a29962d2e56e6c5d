"""Finished cells on disk: an SQLite file that survives a crash and contains no value of the data."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any

from equivoc.arguments import is_whole
from equivoc.errors import InputError
from equivoc.files import writing_into
from equivoc.study.cell import CellKey, CellResult, Figures
from equivoc.study.fingerprint import (
    Facts,
    are_facts,
    content_fingerprint,
    differences,
    known_sizes,
)
from equivoc.study.folder_lock import only_here

FILE = "study.sqlite"
FORMAT = "equivoc study 3"
OLD_FORMATS = {
    "equivoc study 1": "contains confidential values",
    "equivoc study 2": "has no surprise, gain and true hits",
}
"""Formats of earlier versions, and why they cannot be used."""
SECONDS_TO_WAIT = 10
SALT_BYTES = 32

_TABLES = """
CREATE TABLE study (format TEXT NOT NULL, salt BLOB NOT NULL, data TEXT NOT NULL, facts TEXT NOT NULL,
    contents TEXT NOT NULL);
CREATE TABLE seconds (technique TEXT, content TEXT, replicate INTEGER, seconds REAL,
    PRIMARY KEY (technique, content, replicate));
CREATE TABLE results (technique TEXT, content TEXT, replicate INTEGER, known_size INTEGER,
    h0 REAL, area REAL, h0_record REAL, area_record REAL, surprise REAL, gain REAL, true_hit REAL,
    PRIMARY KEY (technique, content, replicate, known_size));
"""
_CELLS = f"""
SELECT technique, replicate, seconds, content, {", ".join(Figures._fields)}
FROM results JOIN seconds USING (technique, content, replicate)
WHERE replicate < ? ORDER BY technique, content, replicate, known_size
"""


@dataclass(frozen=True, eq=False)
class Asked:
    """The requested study: its description, and fingerprints of its data and of its techniques' files."""

    facts: Facts
    data: Callable[[bytes], str]
    """The fingerprint of the data, with a salt."""
    contents: Mapping[str, str | None]
    """By notation: a digest of the files that the notation names."""


@dataclass(frozen=True, eq=False)
class Store:
    """The folder of a study. A cell is stored completely or not at all."""

    folder: Path
    facts: Facts
    """The description of the study requested last."""
    contents: Mapping[str, str]
    """By notation: the keyed fingerprint of the files that the notation names."""
    _connection: sqlite3.Connection

    def add(self, cell: CellResult) -> None:
        """Store a finished cell; on return it is on disk."""
        technique, replicate = cell.key
        key = (technique, self.contents[technique], replicate)
        with _said(self.folder), self._connection as transaction:
            transaction.execute("INSERT OR REPLACE INTO seconds VALUES (?, ?, ?, ?)", (*key, cell.seconds))
            rows = [(*key, *figures) for figures in cell.figures]
            places = ", ".join("?" * len(rows[0]))
            transaction.executemany(f"INSERT OR REPLACE INTO results VALUES ({places})", rows)

    def cells(self) -> list[CellResult]:
        """All finished cells of the study, without those of other techniques and further replicates."""
        with _said(self.folder):
            # One statement reads a consistent state even if another process adds cells.
            rows = self._connection.execute(_CELLS, (self.facts["replicates"],)).fetchall()
        sizes, once, found = known_sizes(self.facts), set(self.facts["once"]), []
        for (technique, replicate, seconds, content), of_cell in groupby(rows, key=lambda row: row[:4]):
            figures = [row[4:] for row in of_cell]
            if self.contents.get(technique) != content or (replicate and technique in once):
                continue
            whole = tuple(row[0] for row in figures) == sizes and all(map(_are_figures, figures))
            if not (whole and isinstance(replicate, int) and replicate >= 0 and isinstance(seconds, float)):
                raise _damaged(self.folder, f"the figures of {technique} are incomplete")
            found.append(
                CellResult(CellKey(technique, replicate), tuple(Figures(*row) for row in figures), seconds)
            )
        return found


@contextmanager
def open_store(folder: Path, asked: Asked) -> Iterator[Store]:
    """The store for a study: a new one, or the existing one if its cells can be used.

    Its data, seed and knowledge must be the same; techniques and replicates may differ. Raises InputError if they
    are not the same, if the folder cannot be written, or if another process computes in it. A new store is removed if
    an InputError ends the study before a cell is finished.
    """
    with writing_into(folder, private=True), only_here(folder):
        path = folder / FILE
        new, useless = not path.exists(), False
        if new:
            _make_private_file(path)
        elif _begun(path):  # check before changing anything: it may be another program's database
            with open_to_read(folder):
                pass
        with _said(folder):
            connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT)
        try:
            with _said(folder):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                _begin(connection, asked)
            salt, data, stored, _ = _read(folder, connection)
            different = list(differences(stored, asked.facts, same_data=asked.data(salt) == data))
            if different:
                raise InputError(
                    f"the study folder {folder} belongs to another study: {'; '.join(different)}. "
                    f"Choose another folder, or remove {FILE} from this one."
                )
            contents = _keyed(asked.contents, salt)
            with _said(folder), connection:
                now = (json.dumps(asked.facts), json.dumps(contents))
                connection.execute("UPDATE study SET facts = ?, contents = ?", now)
            yield Store(folder, asked.facts, contents, connection)
        except InputError:
            with suppress(sqlite3.Error):
                useless = new and not connection.execute("SELECT count(*) FROM results").fetchone()[0]
            raise
        finally:
            connection.close()
            if useless:
                path.unlink(missing_ok=True)


@contextmanager
def open_to_read(folder: Path) -> Iterator[Store]:
    """A finished or unfinished study; nothing is changed."""
    path = folder / FILE
    if not path.exists():
        raise InputError(f"there is no study in {folder}: it has no file {FILE}.")
    if not path.is_file():
        raise InputError(f"{path} is not a file; choose another folder.")
    # In a read-only folder SQLite reads a database with a log only if it is declared immutable.
    writer_left = not path.with_name(f"{FILE}-wal").exists()
    address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if writer_left else ''}"
    with _said(folder):
        connection = sqlite3.connect(address, uri=True, timeout=SECONDS_TO_WAIT)
    try:
        _, _, facts, contents = _read(folder, connection)
        yield Store(folder, facts, contents, connection)
    finally:
        connection.close()


def study_folder(given: object) -> Path:
    """The path of a study's folder from the caller's argument."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in os.fspath(given):
        raise InputError(f"store is {given!r}; give the path of a folder.")
    return Path(given)


def _make_private_file(path: Path) -> None:
    """An empty file that only its owner can read; SQLite gives its log the same permissions."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as problem:
        raise InputError(f"the study folder {path.parent} cannot be used: {problem.strerror}.") from None


def _begun(path: Path) -> bool:
    """True if the file is not empty: a study killed at its start leaves an empty file."""
    return not path.is_file() or path.stat().st_size > 0


def _begin(connection: sqlite3.Connection, asked: Asked) -> None:
    """Create the tables and write the study's description in one transaction, unless they exist."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        there = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not there:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            salt = secrets.token_bytes(SALT_BYTES)
            facts, contents = json.dumps(asked.facts), json.dumps(_keyed(asked.contents, salt))
            row = (FORMAT, salt, asked.data(salt), facts, contents)
            connection.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?)", row)


def _keyed(contents: Mapping[str, str | None], salt: bytes) -> dict[str, str]:
    return {notation: content_fingerprint(content, salt) for notation, content in contents.items()}


def _read(folder: Path, connection: sqlite3.Connection) -> tuple[bytes, str, Facts, dict[str, str]]:
    """Salt, fingerprint of the data, facts, and fingerprints of the techniques' files."""
    with _said(folder):
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        ours = {"study", "seconds", "results"} <= tables
        kind = connection.execute("SELECT format FROM study").fetchone() if ours else None
        if kind is not None and kind[0] in OLD_FORMATS:
            raise InputError(
                f"{folder / FILE} was written by an earlier version of equivoc and {OLD_FORMATS[kind[0]]}: "
                "remove it, and run the study again."
            )
        if kind is None or kind[0] != FORMAT:
            raise InputError(
                f"{folder / FILE} is not a study of this version of equivoc; choose another folder."
            )
        salt, data, *texts = connection.execute("SELECT salt, data, facts, contents FROM study").fetchone()
    facts, contents = (_json(text) for text in texts)
    fine = isinstance(salt, bytes) and len(salt) == SALT_BYTES and isinstance(data, str)
    if not (fine and are_facts(facts) and isinstance(contents, dict)):
        raise _damaged(folder, "the study's description cannot be read")
    return salt, data, facts, contents


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def _are_figures(row: Sequence[Any]) -> bool:
    """True for a number of known keys and finite figures: an SQLite column accepts any type."""
    return is_whole(row[0]) and all(isinstance(figure, float) and isfinite(figure) for figure in row[1:])


def _damaged(folder: Path, why: object) -> InputError:
    return InputError(
        f"{folder / FILE} is damaged, or not a study: {why}. Choose another folder, or remove the file to start again."
    )


@contextmanager
def _said(folder: Path) -> Iterator[None]:
    """Turn errors of the file into an InputError."""
    try:
        yield
    except sqlite3.OperationalError as problem:
        if str(problem).startswith(("no such", "Could not decode")):
            raise _damaged(folder, problem) from None
        raise InputError(
            f"the study folder {folder} cannot be used: {problem}. Finished cells stay in it: when this is "
            "fixed, run the same study again to continue."
        ) from None
    except sqlite3.DatabaseError as problem:
        raise _damaged(folder, problem) from None
