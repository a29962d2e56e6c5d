"""One gateway per store, whatever it is called; and none that answers into a store that is not there any more."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from equivoc.errors import InputError
from equivoc.gateway.gateway import Gateway, Reply
from equivoc.gateway.service.log import LogReader
from tests.gateway.asking_process import POLICY, people_of_process
from tests.gateway.told_process import ToldProcess

Start = Callable[[Path], ToldProcess]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts gateways in processes of their own, and kills those that are left."""
    started: list[ToldProcess] = []

    def start_one(store: Path) -> ToldProcess:
        started.append(ToldProcess(store))
        return started[-1]

    yield start_one
    for each in started:
        each.kill()


def entries_of(store: Path) -> int:
    return LogReader(store).page().total


def other_name(store: Path, how: str) -> Path:
    """Another name of the store, which a second gateway could be opened on."""
    other = store.with_name("other.sqlite")
    if how == "symbolic link":
        other.symlink_to(store)
    elif how == "linked folder":
        store.with_name("folder").symlink_to(store.parent)
        other = store.with_name("folder") / store.name
    elif how == "hard link":
        os.link(store, other)
    else:  # all that lies beside the store is removed
        other = store
        for beside in store.parent.glob("*lock*"):
            beside.unlink()
    return other


def opened(store: Path) -> Gateway:
    """A gateway in this process."""
    return Gateway(people_of_process(), store=store, policy=POLICY)


def sum_below(gate: Gateway, identity: int) -> Reply:
    return gate.ask(f"SELECT SUM(pay) FROM people WHERE id < {identity}", analyst="b")


def test_a_store_is_opened_once_under_whatever_name(tmp_path: Path, start: Start) -> None:
    """Two gateways would give SUM(id < 20) and SUM(id < 21)."""
    store = tmp_path / "gateway.sqlite"
    first = start(store)
    assert first.sum_below(20)["answered"]
    for how in ("symbolic link", "linked folder", "removed lock file", "hard link"):
        other = other_name(store, how)
        with pytest.raises(InputError, match="another gateway uses the store"):
            opened(other)
        if other != store and how != "linked folder":
            other.unlink()
    assert not first.sum_below(21)["answered"]
    assert entries_of(store) == 2


def test_a_second_name_is_refused_at_the_start(tmp_path: Path, start: Start) -> None:
    """After a crash, SQLite looks for the last entries under the name that the store is opened by."""
    store = tmp_path / "gateway.sqlite"
    first = start(store)
    value = first.sum_below(20)["value"]
    first.kill()
    other = other_name(store, "hard link")
    with pytest.raises(InputError, match=r"2 names \(hard links\)"):
        opened(other)
    other.unlink()
    with opened(store) as again:  # after SIGKILL nothing else is needed
        assert sum_below(again, 20) == Reply(
            True, value, "this was answered before; the answer is the same.", 2
        )
        assert not sum_below(again, 21).answered


def test_the_log_is_read_while_it_grows(tmp_path: Path, start: Start) -> None:
    """Readers come and go, also through a link; the gateway goes on."""
    store = tmp_path / "gateway.sqlite"
    other = other_name(store, "symbolic link")
    gate = start(store)
    for number in range(1, 6):
        assert gate.sum_below(10 * number)["number"] == number
        assert entries_of(store) == entries_of(other) == number


def removed(store: Path, older: Path) -> None:
    store.unlink()


def moved(store: Path, older: Path) -> None:
    store.rename(store.with_name("elsewhere.sqlite"))


def replaced(store: Path, older: Path) -> None:
    older.replace(store)


def copied_over(store: Path, older: Path) -> None:
    """Into the same file."""
    shutil.copyfile(older, store)


def emptied(store: Path, older: Path) -> None:
    os.truncate(store, 0)


def log_removed(store: Path, older: Path) -> None:
    """Without the write-ahead log, what was answered since the start would be lost."""
    store.with_name(store.name + "-wal").unlink()


def last_entry_removed(store: Path, older: Path) -> None:
    with closing(sqlite3.connect(store)) as log, log:
        log.execute("DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)")


def check_stops(ask: Callable[[int], object], change: Callable[[], None]) -> None:
    """After the change nothing is answered any more."""
    ask(20)
    change()
    for _ in range(2):
        with pytest.raises(InputError, match=r"the store|the gateway stopped"):
            ask(30)


def older_copy(store: Path) -> Path:
    """Of a store with one entry."""
    with opened(store) as first:
        sum_below(first, 10)
    return Path(shutil.copyfile(store, store.with_name("older.sqlite")))


@pytest.mark.parametrize("change", [removed, replaced, copied_over])
def test_a_process_stops_when_its_store_was_changed(
    tmp_path: Path, start: Start, change: Callable[[Path, Path], None]
) -> None:
    store = tmp_path / "gateway.sqlite"
    older = older_copy(store)
    gate = start(store)

    def ask(identity: int) -> None:
        told = gate.sum_below(identity)
        if "error" in told:
            raise InputError(told["error"])

    check_stops(ask, lambda: change(store, older))
    gate.end()
    assert gate.process.returncode == 0


@pytest.mark.parametrize("change", [moved, emptied, log_removed, last_entry_removed])
def test_nothing_is_answered_into_a_store_that_was_changed(
    tmp_path: Path, change: Callable[[Path, Path], None]
) -> None:
    store = tmp_path / "gateway.sqlite"
    older = older_copy(store)
    with opened(store) as gate:
        check_stops(lambda identity: sum_below(gate, identity), lambda: change(store, older))


def test_a_store_with_missing_entries_is_not_opened(tmp_path: Path) -> None:
    store = tmp_path / "gateway.sqlite"
    with opened(store) as first:
        for number in range(1, 4):
            sum_below(first, 10 * number)
    for which in ("min", "max"):
        broken = tmp_path / which
        shutil.copyfile(store, broken)
        with closing(sqlite3.connect(broken)) as log, log:
            log.execute(f"DELETE FROM entries WHERE number = (SELECT {which}(number) FROM entries)")
        with pytest.raises(InputError, match="some of its entries are missing"):
            opened(broken)


@pytest.mark.parametrize("content", [b"", None])
def test_an_empty_file_is_no_new_store(tmp_path: Path, content: bytes | None) -> None:
    """It may be what is left of one that held answers."""
    store = tmp_path / "gateway.sqlite"
    if content is None:
        with closing(sqlite3.connect(store)) as log:
            log.execute("VACUUM")
    else:
        store.write_bytes(content)
    before = store.read_bytes()
    with pytest.raises(InputError, match="is an empty file"):
        opened(store)
    store.unlink()
    assert before == b"" or content is None
    opened(store).close()


def test_a_damaged_store_never_becomes_an_empty_one(tmp_path: Path) -> None:
    store, chance = tmp_path / "gateway.sqlite", random.Random(26)
    with opened(store) as gate:
        for low in (10, 20, 30):
            with suppress(InputError):
                gate.ask(f"SELECT COUNT(*) FROM people WHERE age >= {low}", analyst="a")
        before = len(gate.history())
    content = store.read_bytes()
    assert before == 3
    refused = 0
    for _ in range(30):
        damaged = bytearray(content)
        for at in [*chance.sample(range(len(content)), 40), chance.randrange(120)]:
            damaged[at] ^= 1 << chance.randrange(8)
        store.write_bytes(damaged)
        try:
            with opened(store) as again:
                assert len(again.history()) == before
        except InputError as told:
            refused += 1
            assert "\n" not in str(told)  # noqa: PT017
    assert refused > 10
