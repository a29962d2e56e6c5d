"""Reads a gateway's log while the gateway may be running: a page of entries, newest first, or all of them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.gateway.history import Entry
from equivoc.gateway.pinned_down import PinnedDown
from equivoc.serving.serving import CLOSED
from equivoc.text import printable

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
    pinned: Mapping[int, PinnedDown] = field(default_factory=dict)
    """Whom all answers up to an entry pinned down, by the entry's number: for the owner alone."""


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
            pinned = _pinned(log)
        entries = tuple(map(_entry, rows[:PAGE]))
        return Page(entries, total, entries[-1].number if len(rows) > PAGE else None, pinned)

    def every(self, *, analyst: str | None = None) -> Iterator[Entry]:
        """All entries, oldest first."""
        where, given = ("", []) if analyst is None else (" WHERE analyst = ?", [analyst])
        with self._open() as log:
            yield from map(_entry, log.execute(f"SELECT * FROM entries{where} ORDER BY number", given))

    def pinned(self) -> dict[int, PinnedDown]:
        """Whom all answers up to an entry pinned down, by the entry's number."""
        with self._open() as log:
            return _pinned(log)

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


def _pinned(log: sqlite3.Connection) -> dict[int, PinnedDown]:
    there = "SELECT 1 FROM sqlite_master WHERE name = 'pinned_down'"
    if log.execute(there).fetchone() is None:  # a store of an earlier version
        return {}
    rows = log.execute("SELECT number, exact, below, unsettled FROM pinned_down")
    return {row["number"]: PinnedDown(*row) for row in rows}


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


# The owner's page of the log: plain HTML without scripts, newest entries first, a page at a time.


def log_page(page: Page, *, before: int | None, warnings: Sequence[str] = ()) -> str:
    """The HTML of a page; ``before``: only entries with smaller numbers were asked for."""
    rows = [
        {
            "number": entry.number,
            "time": printable(entry.time),
            "analyst": printable(entry.analyst),
            "question": printable(entry.question, keep="\n"),
            "decision": printable(entry.decision),
            "reason": printable(entry.reason),
            "value": value_text(entry.value),
            "pinned": page.pinned[entry.number].text() if entry.number in page.pinned else "",
        }
        for entry in page.entries
    ]
    html: str = _template().render(
        rows=rows,
        total=page.total,
        before=before,
        older=page.older,
        warnings=warnings,
        style=Markup(_style()),
    )
    return html


def page_policy() -> str:
    """The page's Content-Security-Policy: its own style sheet, by its hash, and nothing else."""
    found = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return f"{CLOSED}; style-src 'sha256-{found}'"


def value_text(value: object) -> str:
    """An answer as text: a number as it is, groups as JSON, nothing for a refusal.

    >>> value_text(57.0), value_text([{"sex": "F", "value": 3.5}]), value_text(None)
    ('57', '[{"sex": "F", "value": 3.5}]', '')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return printable(
        value if isinstance(value, (str, int, float)) else json.dumps(value, ensure_ascii=False, default=str)
    )


@cache
def _style() -> str:
    return _read("log.css")


@cache
def _template() -> Any:
    found = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(_read))
    return found.get_template("log.html.jinja")


def _read(name: str) -> str:
    return (files("equivoc.gateway.service") / name).read_text(encoding="utf-8")
