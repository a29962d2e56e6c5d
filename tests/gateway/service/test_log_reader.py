"""Reading the log of a store that a gateway has open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from equivoc.errors import InputError
from equivoc.gateway.history import History
from equivoc.gateway.policy import Policy
from equivoc.gateway.service.log import PAGE, LogReader


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    found = History.open(tmp_path / "gateway.sqlite", data=lambda salt: "people", policy=Policy())
    yield found
    found.close()


def test_pages_join_into_the_log(history: History) -> None:
    for number in range(2 * PAGE + 7):
        value = None if number % 3 else [{"sex": "F", "value": number}]
        history.record("ann" if number % 2 else "bob", f"question {number}", "answered", "fine", value)
    written = history.entries()
    log = LogReader(history.path)
    assert tuple(log.every()) == written
    for analyst in (None, "ann", "bob", "nobody"):
        wanted = history.entries(analyst)
        found, before = [], None
        while True:
            page = log.page(analyst=analyst, before=before)
            assert page.total == len(wanted)
            found += page.entries
            before = page.older
            if before is None:
                break
        assert tuple(reversed(found)) == wanted


def test_a_last_page_that_is_full_is_the_last(history: History) -> None:
    for _ in range(PAGE):
        history.record("ann", "q", "refused", "few", None)
    assert LogReader(history.path).page().older is None


def test_an_entry_is_seen_as_soon_as_it_is_written(history: History) -> None:
    log = LogReader(history.path)
    assert log.page().entries == ()
    entry = history.record("ann", "q", "answered", "fine", 57.0)
    assert log.page().entries == (entry,)


def test_the_reader_cannot_write(history: History) -> None:
    with (
        pytest.raises(InputError, match="cannot be read: attempt to write a readonly database"),
        LogReader(history.path)._open() as log,
    ):
        log.execute("DELETE FROM entries")


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        LogReader(tmp_path / "nothing").page()
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).execute("CREATE TABLE t (a)").connection.close()
    with pytest.raises(InputError, match="cannot be read: no such table: entries"):
        LogReader(other).page()
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(InputError, match="file is not a database"):
        LogReader(tmp_path / "text").page()
