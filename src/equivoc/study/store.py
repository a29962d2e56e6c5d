"""Finished cells on disk: an SQLite file that survives being killed at any moment."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from equivoc.errors import InputError
from equivoc.study.cell import CellKey, CellResult, Figures
from equivoc.study.fingerprint import Facts, differences

FILE = "study.sqlite"
FORMAT = "equivoc study 1"
SECONDS_TO_WAIT = 60

_TABLES = """
CREATE TABLE study (format TEXT NOT NULL, facts TEXT NOT NULL);
CREATE TABLE seconds (technique TEXT, replicate INTEGER, seconds REAL, PRIMARY KEY (technique, replicate));
CREATE TABLE results (technique TEXT, replicate INTEGER, known_size INTEGER,
    h0 REAL, area REAL, h0_record REAL, area_record REAL, PRIMARY KEY (technique, replicate, known_size));
"""
_CELLS = """
SELECT results.*, seconds FROM results JOIN seconds USING (technique, replicate)
ORDER BY technique, replicate, known_size
"""


@dataclass(frozen=True, eq=False)
class Store:
    """The folder of one study. A cell is in it whole or not at all."""

    folder: Path
    _connection: sqlite3.Connection

    def add(self, cell: CellResult) -> None:
        """Keep a finished cell; on return it is on the disk."""
        with _said(self.folder), self._connection as transaction:
            transaction.execute("INSERT OR IGNORE INTO seconds VALUES (?, ?, ?)", (*cell.key, cell.seconds))
            rows = [(*cell.key, *figures) for figures in cell.figures]
            transaction.executemany("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def cells(self) -> list[CellResult]:
        """All finished cells."""
        with _said(self.folder):
            # One statement sees one moment, whatever another process adds meanwhile.
            rows = self._connection.execute(_CELLS).fetchall()
        return [
            CellResult(CellKey(*key), tuple(Figures(*row[2:-1]) for row in of_cell), seconds)
            for (*key, seconds), of_cell in groupby(rows, key=lambda row: (row[0], row[1], row[-1]))
        ]


@contextmanager
def open_store(folder: Path, facts: Facts) -> Iterator[Store]:
    """The store of the study that has these facts: a new one, or the one that is there.

    Raises InputError if another study's results are in the folder, or if it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"the store {folder} cannot be made a folder: {problem.strerror}.") from None
    with _said(folder):
        connection = sqlite3.connect(folder / FILE, timeout=SECONDS_TO_WAIT)
    try:
        with _said(folder):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            _begin(connection, facts)
        stored = read_facts(folder, connection)
        different = list(differences(stored, facts))
        if different:
            raise InputError(
                f"the store {folder} belongs to another study: {'; '.join(different)}. "
                "Choose another folder, or remove this one."
            )
        yield Store(folder, connection)
    finally:
        connection.close()


@contextmanager
def open_to_read(folder: Path) -> Iterator[tuple[Facts, Store]]:
    """A finished or unfinished study's facts and cells; nothing is changed."""
    path = folder / FILE
    if not path.exists():
        raise InputError(f"there is no study in {folder}: it has no file {FILE}.")
    # SQLite cannot read beside its log where it may not write, unless it is told that nobody else does.
    writer_left = not path.with_name(f"{FILE}-wal").exists()
    address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if writer_left else ''}"
    with _said(folder):
        connection = sqlite3.connect(address, uri=True, timeout=SECONDS_TO_WAIT)
    try:
        yield read_facts(folder, connection), Store(folder, connection)
    finally:
        connection.close()


def _begin(connection: sqlite3.Connection, facts: Facts) -> None:
    """Make the tables and write the facts in one transaction, unless somebody has."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        there = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not there:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute("INSERT INTO study VALUES (?, ?)", (FORMAT, json.dumps(facts)))


def read_facts(folder: Path, connection: sqlite3.Connection) -> Facts:
    """What the stored study is made of."""
    with _said(folder):
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        row = None
        if {"study", "seconds", "results"} <= tables:
            row = connection.execute("SELECT format, facts FROM study").fetchone()
    if row is None or row[0] != FORMAT:
        raise InputError(f"{folder / FILE} was not made by this version's studies; choose another folder.")
    facts: Facts = json.loads(row[1])
    return facts


@contextmanager
def _said(folder: Path) -> Iterator[None]:
    """What goes wrong with the file, in a sentence."""
    try:
        yield
    except sqlite3.OperationalError as problem:
        raise InputError(
            f"the store {folder} cannot be used: {problem}. What was finished stays in it: once that is "
            "mended, run the same study again to go on."
        ) from None
    except sqlite3.DatabaseError as problem:
        raise InputError(f"{folder / FILE} is damaged or no study: {problem}.") from None
