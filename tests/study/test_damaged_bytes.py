"""Bytes of a store that are no longer what was written: the right figures or one sentence, never other figures."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import equivoc as eq
from tests.commands import run_command

TECHNIQUES = [eq.Sampling(fraction=0.2), eq.Swapping(rate=0.3)]
TIMES = 120
OLD = {"study": "equivoc study 3", "comparison": "equivoc comparison 1"}
TABLES = {"study": ("study", "seconds", "results"), "comparison": ("comparison", "results")}


def study(people: eq.Microdata, folder: Path) -> Any:
    return eq.Study(people, techniques=TECHNIQUES, replicates=3).run(folder, progress=False)


def comparison(people: eq.Microdata, folder: Path) -> Any:
    require = ["true_hit(20)@worst <= 1", "gain@p95 <= 9"]
    return eq.compare(
        people, TECHNIQUES, replicates=2, store=folder, progress=False, intruder="informed", require=require
    )


MADE: dict[str, Callable[[eq.Microdata, Path], Any]] = {"study": study, "comparison": comparison}


@pytest.fixture(scope="module", params=["study", "comparison"])
def what(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kept(what: str, people: eq.Microdata, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A finished store, and the figures that it holds."""
    folder = tmp_path_factory.mktemp(what)
    return folder / f"{what}.sqlite", figures(MADE[what](people, folder))


def figures(done: Any) -> Any:
    return done.frame.drop(columns=[name for name in done.frame if name == "seconds"])


def damaged(content: bytes, chance: random.Random) -> bytes:
    """One byte, 40 bytes anywhere, or some in a row are others."""
    found = bytearray(content)
    begin = chance.randrange(len(found) - 64)
    for at in chance.choice(
        [
            [chance.choice([at for at, byte in enumerate(content) if byte])],
            chance.sample(range(len(found)), 40),
            range(begin, begin + chance.randrange(2, 64)),
        ]
    ):
        found[at] ^= 1 << chance.randrange(8)
    return bytes(found)


def test_damaged_bytes_are_never_other_figures(
    what: str, people: eq.Microdata, kept: tuple[Path, Any], tmp_path: Path
) -> None:
    store, right = kept
    content, chance = store.read_bytes(), random.Random(26)
    came: Counter[str] = Counter()
    ways = [lambda folder: MADE[what](people, folder)]
    ways += [eq.load_study] if what == "study" else []
    for number in range(TIMES):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / store.name).write_bytes(damaged(content, chance))
        for use in ways:
            try:
                found = figures(use(folder))
            except eq.InputError as told:
                came["refused" if str(told).isprintable() else "no sentence"] += 1
            else:
                came["right" if found.equals(right) else "wrong"] += 1
    assert set(came) == {"right", "refused"}, came


def test_the_command_ends_with_a_sentence(people: eq.Microdata, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,pay\n" + "30,10\n30,20\n41,30\n41,20\n" * 5)
    words = [
        "compare",
        "people.csv",
        *["--confidential", "pay", "--keys", "age", "--technique", "sampling:fraction=0.5"],
    ]
    words += ["--intruder", "informed", "--workers", "1", "--out", "out"]
    assert run_command(tmp_path, words).returncode == 0
    store = tmp_path / "out" / "comparison.sqlite"
    content = store.read_bytes()
    at = content.index(b'"true_hit"')
    store.write_bytes(content[:at] + b"\xff\xfe" + content[at + 2 :])
    ran = run_command(tmp_path, words)
    assert ran.returncode == 2, ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert "comparison.sqlite is damaged, or not a comparison: a text in it cannot be read" in ran.stderr


def without_digests(what: str, store: Path, folder: Path) -> sqlite3.Connection:
    """The store as earlier versions wrote it."""
    folder.mkdir()
    shutil.copy(store, folder)
    connection = sqlite3.connect(folder / store.name)
    for table in TABLES[what]:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN digest")
    connection.execute(f"UPDATE {what} SET format = ?", (OLD[what],))
    connection.commit()
    return connection


def test_a_store_without_digests_is_read_once_with_a_remark(
    what: str, people: eq.Microdata, kept: tuple[Path, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "old"
    without_digests(what, kept[0], folder).close()
    if what == "study":
        for _ in range(2):  # reading changes nothing
            assert "kept no digest of its figures" in eq.load_study(folder).remarks[0]
    again = MADE[what](people, folder)
    assert figures(again).equals(kept[1])
    assert [f"{what}.sqlite is of an earlier version" in remark for remark in again.remarks] == [True]
    if what == "comparison":
        assert again.remarks[0] in again.facts()["sentences"]["records"]
    assert MADE[what](people, folder).remarks == ()
    connection = sqlite3.connect(folder / kept[0].name)
    connection.execute("UPDATE results SET replicate = replicate + 1 WHERE replicate = 2")
    connection.execute(
        "UPDATE results SET seconds = 7" if what == "comparison" else "UPDATE seconds SET seconds = 7"
    )
    connection.commit()
    connection.close()
    with pytest.raises(eq.InputError, match="rows do not fit their digest"):
        MADE[what](people, folder)


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("study", "UPDATE results SET h0 = -6e-05 WHERE known_size = 1"),
        ("study", "UPDATE results SET h0 = 3e9"),
        ("study", "UPDATE results SET true_hit = 1.5"),
        ("study", "UPDATE results SET area_record = -1"),
        ("comparison", """UPDATE results SET figures = replace(figures, '"true_hit": 0', '"true_hit": 3')"""),
        ("comparison", """UPDATE results SET figures = replace(figures, '"k": ', '"k": -')"""),
    ],
    indirect=["what"],
)
def test_figures_outside_their_range(
    what: str, people: eq.Microdata, kept: tuple[Path, Any], tmp_path: Path, change: str
) -> None:
    connection = without_digests(what, kept[0], tmp_path / "old")
    before = list(connection.iterdump())
    connection.execute(change)
    connection.commit()
    assert list(connection.iterdump()) != before
    connection.close()
    with pytest.raises(eq.InputError, match="are incomplete, or cannot be such figures"):
        MADE[what](people, tmp_path / "old")


def test_an_old_format_does_not_hide_damage(
    people: eq.Microdata, kept: tuple[Path, Any], tmp_path: Path, what: str
) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    shutil.copy(kept[0], folder)
    with sqlite3.connect(folder / kept[0].name) as connection:
        connection.execute(f"UPDATE {what} SET format = ?", (OLD[what],))
    connection.close()
    with pytest.raises(eq.InputError, match="its format does not fit its tables"):
        MADE[what](people, folder)
