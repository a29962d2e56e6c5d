"""A folder whose file is damaged, another's, or in use: one sentence, and nothing is overwritten."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import equivoc as eq
from equivoc.experiments import store as module
from equivoc.experiments.store import only_here
from equivoc.experiments.stores import STUDY_FILE

LOCK = "study.lock"
STUDY = {"techniques": [eq.Sampling(fraction=0.2)], "replicates": 2}


@pytest.fixture(scope="module")
def kept(people: eq.Microdata, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    eq.Study(people, **STUDY).run(folder, progress=False)
    return folder


def refused(people: eq.Microdata, folder: Path, said: str) -> None:
    before = (folder / STUDY_FILE).read_bytes()
    for use in (lambda: eq.load_study(folder), lambda: eq.Study(people, **STUDY).run(folder, progress=False)):
        with pytest.raises(eq.InputError, match=said) as mistake:
            use()
        assert "\n" not in str(mistake.value)
    assert (folder / STUDY_FILE).read_bytes() == before
    assert not (folder / LOCK).exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE study SET facts = '{'",
        "UPDATE study SET facts = 'null'",
        "UPDATE study SET facts = '[1]'",
        'UPDATE study SET facts = replace(facts, \'"seed": 0\', \'"seed": "zero"\')',
        "UPDATE study SET facts = replace(facts, '\"replicates\": 2', '\"replicates\": 1e9')",
        "UPDATE study SET facts = replace(facts, '\"replicates\": 2', '\"replicates\": 1000000000')",
        "UPDATE study SET facts = replace(facts, '\"known_sizes\": [0', '\"known_sizes\": [{}')",
        "UPDATE study SET facts = replace(facts, '\"known_sizes\"', '\"subsets\"')",
        'UPDATE study SET facts = replace(facts, \'"records": 200\', \'"records": "many"\')',
        "UPDATE study SET facts = replace(facts, '\"techniques\": [', '\"techniques\": [7, ')",
        "UPDATE study SET facts = x'ff00ff'",
        f"UPDATE study SET facts = '{'[' * 5000}'",
        "UPDATE study SET contents = '{'",
        "UPDATE study SET contents = '7'",
        "UPDATE study SET salt = x'00'",
        "UPDATE study SET salt = 'text'",
        "UPDATE study SET data = x'00'",
        "UPDATE study SET facts = replace(facts, '\"true_hit_tolerance\": 5.0', '\"true_hit_tolerance\": null')",
        'UPDATE study SET facts = replace(facts, \'"intruder": "informed"\', \'"intruder": 7\')',
        "UPDATE results SET h0 = NULL WHERE known_size = 1",
        "UPDATE results SET gain = NULL WHERE known_size = 1",
        "ALTER TABLE results DROP COLUMN surprise",
        "UPDATE results SET area = 'much'",
        "UPDATE results SET area_record = 9e999",
        "UPDATE results SET h0_record = x'00' WHERE replicate = 1",
        "UPDATE results SET known_size = 'one' WHERE known_size = 1",
        "UPDATE results SET known_size = 7 WHERE known_size = 1",
        "DELETE FROM results WHERE known_size = 2",
        "UPDATE seconds SET seconds = 'long'",
        "UPDATE seconds SET seconds = NULL",
        "UPDATE results SET replicate = -1 WHERE replicate = 1; UPDATE seconds SET replicate = -1 WHERE replicate = 1",
        "ALTER TABLE results RENAME COLUMN area TO surface",
        "ALTER TABLE study DROP COLUMN salt",
    ],
)
def test_contents_that_are_not_a_study(
    people: eq.Microdata, kept: Path, tmp_path: Path, statement: str
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    connection = sqlite3.connect(folder / STUDY_FILE)
    before = "\n".join(connection.iterdump())
    connection.executescript(statement)
    assert "\n".join(connection.iterdump()) != before
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    refused(
        people,
        folder,
        r"study.sqlite is damaged, or not a study: .*Choose another folder, or remove the file",
    )


def test_text_that_is_no_text(people: eq.Microdata, kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    connection = sqlite3.connect(folder / STUDY_FILE)
    with connection:
        connection.execute("UPDATE study SET facts = CAST(x'ff00ff' AS TEXT)")
    connection.close()
    refused(people, folder, "is damaged, or not a study")


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cut, "is damaged, or not a study: database disk image is malformed"),
        (lambda content: content[:100], "is damaged, or not a study"),
        (lambda content: content[:50], "is damaged, or not a study"),
        (lambda content: b"name,pay\nEve,7\n" * 200, "is damaged, or not a study: file is not a database"),
        (lambda content: content[:4096] + b"\xff" * (len(content) - 4096), "is damaged, or not a study"),
    ],
    ids=["half", "header", "less", "text", "garbage"],
)
def test_files_that_are_no_database(
    people: eq.Microdata, kept: Path, tmp_path: Path, change: Callable[[bytes], bytes], said: str
) -> None:
    (tmp_path / STUDY_FILE).write_bytes(change((kept / STUDY_FILE).read_bytes()))
    refused(people, tmp_path, said)


def test_another_database_stays_as_it_is(people: eq.Microdata, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / STUDY_FILE)
    connection.executescript("CREATE TABLE study (wages); INSERT INTO study VALUES (7)")
    connection.close()
    refused(people, tmp_path, "is not a study of this version of equivoc; choose another folder")


def test_killed_at_its_very_start(people: eq.Microdata, tmp_path: Path) -> None:
    (tmp_path / STUDY_FILE).touch()
    (tmp_path / LOCK).touch()  # a lock that nobody holds
    assert eq.Study(people, **STUDY).run(tmp_path, progress=False).complete
    assert not (tmp_path / LOCK).exists()


def test_locked_by_another_program(
    people: eq.Microdata, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS_TO_WAIT", 0.1)
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    connection = sqlite3.connect(folder / STUDY_FILE, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(eq.InputError, match="cannot be used: database is locked"):
            eq.Study(people, **STUDY).run(folder, progress=False)
    finally:
        connection.close()
    assert eq.load_study(folder).complete


@pytest.fixture
def holder(tmp_path: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Another process that computes in the folder ``out``."""
    (tmp_path / "out").mkdir()
    holding = (
        "import pathlib, sys; from equivoc.experiments.store import only_here\n"
        "with only_here(pathlib.Path(sys.argv[1]), 'study'): print('held', flush=True); sys.stdin.read()"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path / "out")],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout.readline() == "held\n"
    yield started
    started.kill()
    started.wait()
    started.stdin.close()
    started.stdout.close()


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_two_processes_at_once(people: eq.Microdata, tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    study = eq.Study(people, **STUDY)
    with pytest.raises(
        eq.InputError, match=r"another process is computing a study in .*out; wait until it ends"
    ):
        study.run(tmp_path / "out", progress=False)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [LOCK]
    holder.kill()
    holder.wait()
    assert study.run(tmp_path / "out", progress=False).complete
    with only_here(tmp_path / "out", "study"):
        assert eq.load_study(tmp_path / "out").complete  # reading is for everyone
