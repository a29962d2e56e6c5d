"""Reads a gateway's log while the gateway may be running: a page of entries, newest first, or all of them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.gateway.history import Entry

PAGE = 100
"""Entries on one page."""


@dataclass(frozen=True)
class Page:
    """A part of the log, newest entry first."""

    entries: tuple[Entry, ...]
    total: int
    """How many entries there are, for the same analyst, before and after this page too."""
    older: int | None
    """The number before which the next page begins; None on the last page."""


class LogReader:
    """The log in a store, through a connection of its own that cannot write."""

    def __init__(self, store: str | os.PathLike[str]) -> None:
        self.store = Path(store)

    def page(self, *, analyst: str | None = None, before: int | None = None) -> Page:
        """At most a page of entries with numbers below ``before``, of one analyst or of all."""
        every, given = ("1", []) if analyst is None else ("analyst = ?", [analyst])
        later, limits = ("1", []) if before is None else ("number < ?", [before])
        with self._open() as log:
            total = log.execute(f"SELECT count(*) FROM entries WHERE {every}", given).fetchone()[0]
            rows = log.execute(
                f"SELECT * FROM entries WHERE {every} AND {later} ORDER BY number DESC LIMIT {PAGE + 1}",
                [*given, *limits],
            ).fetchall()
        entries = tuple(map(_entry, rows[:PAGE]))
        return Page(entries, total, entries[-1].number if len(rows) > PAGE else None)

    def every(self, *, analyst: str | None = None) -> Iterator[Entry]:
        """All entries, oldest first."""
        where, given = ("", []) if analyst is None else (" WHERE analyst = ?", [analyst])
        with self._open() as log:
            yield from map(_entry, log.execute(f"SELECT * FROM entries{where} ORDER BY number", given))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        check_readable(self.store)
        try:
            address = f"{self.store.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=10)) as log:
                log.row_factory = sqlite3.Row
                yield log
        except sqlite3.Error as problem:
            raise InputError(f"the log in {self.store} cannot be read: {problem}.") from None


def _entry(row: Any) -> Entry:
    return Entry(
        row["number"],
        row["time"],
        row["analyst"],
        row["question"],
        row["decision"],
        row["reason"],
        json.loads(row["value"]),
    )
