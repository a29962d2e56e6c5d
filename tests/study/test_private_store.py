"""A study's folder holds no value of the data and is readable by its owner only."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.data.fingerprint import data_fingerprint
from equivoc.experiments.stores import OLD_FORMATS, STUDY_FILE

SALARIES = [31_337, 40_961, 77_773, 90_001]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({"town": ["Ghent", "Ghent", "Namur", "Namur"], "salary": SALARIES})


@pytest.fixture
def study(frame: pd.DataFrame) -> eq.Study:
    people = eq.Microdata(frame, confidential="salary", keys=["town"])
    return eq.Study(people, techniques=[eq.Sampling(fraction=0.5), eq.ReleasedFile(frame)], replicates=2)


def rows(folder: Path) -> str:
    connection = sqlite3.connect(folder / STUDY_FILE)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    connection.close()
    return repr(found)


def test_no_value_is_in_the_store(study: eq.Study, frame: pd.DataFrame, tmp_path: Path) -> None:
    done = study.run(tmp_path, progress=False)
    for text in (rows(tmp_path), json.dumps(done.made_of), json.dumps(eq.load_study(tmp_path).made_of)):
        for value in (*SALARIES, "Ghent", "Namur"):
            assert not re.search(rf"(?<![0-9a-f.]){value}(?![0-9a-f])", text)  # digits of a hash are none
    # Neither a hash that can be looked up: of a column's codes or values, or of the released file.
    codes = study.people.codes.astype("<i4").tobytes()
    guesses = [codes, np.array(SALARIES, "<f8").tobytes(), study.people.key_codes("town").tobytes()]
    for name in ("sha256", "blake2b", "md5"):
        for guess in guesses:
            assert hashlib.new(name, guess).hexdigest() not in rows(tmp_path)
    assert study.techniques[1].content not in rows(tmp_path)


def test_every_store_has_a_salt_of_its_own(study: eq.Study, tmp_path: Path) -> None:
    for name in ("one", "two"):
        study.run(tmp_path / name, progress=False)
    query = "SELECT data, contents FROM study"  # a row's digest is of what stands beside it
    stored = []
    for name in ("one", "two"):
        with closing(sqlite3.connect(tmp_path / name / STUDY_FILE)) as connection:
            stored.append(str(connection.execute(query).fetchall()))
    digests = [set(re.findall(r"[0-9a-f]{64}", text)) for text in stored]
    assert digests[0]
    assert not digests[0] & digests[1]


def test_a_fingerprint_tells_data_apart() -> None:
    def of(salt: bytes = b"s" * 32, **columns: list) -> str:
        names = {"town": ["1", "2"], "sex": ["F", "M"], "salary": [10, 20], **columns}
        people = eq.Microdata(pd.DataFrame(names), confidential="salary", keys=["town", "sex"])
        return data_fingerprint(people, salt)

    different = [
        of(),
        of(b"t" * 32),
        of(town=[1, 2]),
        of(town=["2", "1"]),
        of(sex=["F", None]),
        of(salary=[20, 10]),
        of(salary=[10, 21]),
        of(town=["F", "M"], sex=["1", "2"]),
    ]
    assert len(set(different)) == len(different)
    assert of() == of()


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_the_owner_reads_it(study: eq.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from equivoc.experiments import workers as module

    seen: dict[str, int] = {}
    compute = module.compute

    def looking(*given: object, **named: object):
        for cell in compute(*given, **named):
            yield cell
            seen.update(
                {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()}
            )

    monkeypatch.setattr(module, "compute", looking)
    before = os.umask(0o022)
    try:
        study.run(tmp_path / "out", progress=False)
    finally:
        os.umask(before)
    assert {STUDY_FILE, f"{STUDY_FILE}-wal", f"{STUDY_FILE}-shm"} <= set(seen)
    assert set(seen.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_json_prints_no_value(tmp_path: Path, frame: pd.DataFrame, environment: dict[str, str]) -> None:
    frame.to_csv(tmp_path / "people.csv", index=False)
    data = '[data]\npath = "people.csv"\nconfidential = "salary"\nkeys = ["town"]\n'
    plan = data + '[[technique]]\nname = "unprotected"\n'
    (tmp_path / "plan.toml").write_text(plan)
    command = [sys.executable, "-m", "equivoc", "study", str(tmp_path / "plan.toml"), "--json", "--out"]
    ran = subprocess.run(
        [*command, str(tmp_path / "out")], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout)["study"]["data"] == {
        "records": 4,
        "confidential": "salary",
        "kind": "number",
        "keys": ["town"],
        "left_out": 0,
    }
    for value in (*SALARIES, "Ghent", "Namur"):
        assert not re.search(rf"(?<![0-9.]){value}(?![0-9])", ran.stdout)


@pytest.mark.parametrize(("form", "why"), OLD_FORMATS.items())
def test_an_old_store_is_to_be_removed(study: eq.Study, tmp_path: Path, form: str, why: str) -> None:
    connection = sqlite3.connect(tmp_path / STUDY_FILE)
    connection.executescript(
        "CREATE TABLE study (format TEXT, facts TEXT); CREATE TABLE seconds (x); CREATE TABLE results (x)"
    )
    with connection:
        connection.execute("INSERT INTO study VALUES (?, '{}')", (form,))
    connection.close()
    before = (tmp_path / STUDY_FILE).read_bytes()
    for use in (lambda: study.run(tmp_path, progress=False), lambda: eq.load_study(tmp_path)):
        with pytest.raises(
            eq.InputError,
            match=f"written by an earlier version of equivoc and {why}: remove it, and run the study again",
        ):
            use()
    assert (tmp_path / STUDY_FILE).read_bytes() == before
