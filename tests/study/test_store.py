"""The store on disk: rejected if it belongs to another study, readable after any interruption."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments.stores import STUDY_FILE

TECHNIQUES = [eq.Sampling(fraction=0.2), eq.QueryRestriction(size=2)]


@pytest.fixture(scope="module")
def kept(people: eq.Microdata, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    eq.Study(people, techniques=TECHNIQUES, replicates=2, seed=1).run(folder, progress=False)
    return folder


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": 2}, "its seed is 1, not 2"),
        ({"known_sizes": [0, 1]}, r"its known_sizes are \[0, 1, 2, 3\], not \[0, 1\]"),
        ({"prior": "uniform"}, "its prior is marginal, not uniform"),
        ({"intruder": "paper"}, "its intruder is informed, not paper"),
        ({"subsets": [["age"]]}, r"its subsets are not given, not \[\['age'\]\]"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_another_plan_is_refused(people: eq.Microdata, kept: Path, changed: dict, said: str) -> None:
    plan = {"techniques": TECHNIQUES, "replicates": 2, "seed": 1, **changed}
    with pytest.raises(eq.InputError, match=f"belongs to another study: .*{said}"):
        eq.Study(people, **plan).run(kept, progress=False)


KEYS = ["age", "sex", "job"]
OTHER = "its data have other values, another order of rows, another domain"


@pytest.mark.parametrize(
    ("roles", "change", "said"),
    [
        ({}, lambda f: f.assign(job=f["job"].where(f.index != 3, 5 - f["job"])), OTHER),
        ({}, lambda f: f.iloc[:-1], "200 records, not 199"),
        ({}, lambda f: f.iloc[::-1], OTHER),
        ({"keys": ["age", "sex"]}, lambda f: f, "its keys are"),
        ({"domain": range(10, 210, 10)}, lambda f: f, OTHER),
        ({}, lambda f: f.assign(age=f["age"].map(str)), OTHER),
        ({}, lambda f: f.assign(salary=f["salary"].where(f.index != 3, 100)), OTHER),
    ],
    ids=["value", "records", "order", "keys", "domain", "type", "confidential"],
)
def test_other_data_are_refused(
    frame: pd.DataFrame, kept: Path, roles: dict, change: Callable[[pd.DataFrame], pd.DataFrame], said: str
) -> None:
    usual = {"confidential": "salary", "keys": KEYS, "domain": range(10, 110, 10)}
    people = eq.Microdata(change(frame), **{**usual, **roles})
    plan = {"techniques": TECHNIQUES, "replicates": 2, "seed": 1}
    with pytest.raises(eq.InputError, match=said):
        eq.Study(people, **plan).run(kept, progress=False)


def test_a_finished_study_is_not_computed_again(
    people: eq.Microdata, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*given: object, **named: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("equivoc.experiments.workers.compute", never)
    study = eq.Study(people, techniques=TECHNIQUES[::-1], replicates=2, seed=1)  # order does not matter
    assert study.run(kept, progress=False).complete


def test_an_unfinished_study_can_be_read_and_continued(
    people: eq.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = eq.Study(people, techniques=TECHNIQUES, replicates=2, seed=1)
    from equivoc.experiments import workers as module

    compute = module.compute

    def three_and_out(*given: object, **named: object):
        for number, cell in enumerate(compute(*given, **named)):
            if number == 3:
                raise KeyboardInterrupt
            yield cell

    monkeypatch.setattr(module, "compute", three_and_out)
    with pytest.raises(KeyboardInterrupt, match="stopped with 3 of 4 cells done; they are kept in"):
        study.run(tmp_path, progress=False)
    half = eq.load_study(tmp_path)
    assert not half.complete
    assert len(half.frame) == 3 * 4
    with pytest.raises(KeyboardInterrupt, match="without a store, no result is kept"):
        study.run(progress=False)
    monkeypatch.undo()
    whole = study.run(tmp_path, progress=False)
    assert whole.complete
    assert whole.results.equals(study.run(progress=False).results)
    pd.testing.assert_frame_equal(
        half.frame, whole.frame.merge(half.frame[["technique", "parameters", "known_size", "replicate"]])
    )


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may write anywhere: act as another user, without rights."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)


def test_read_where_nothing_may_be_written(people: eq.Microdata, kept: Path) -> None:
    eq.load_study(kept)  # all modules are loaded: another user may not be able to read them
    with tempfile.TemporaryDirectory() as folder:  # tmp_path is for its owner only
        Path(folder).chmod(0o755)
        copy = Path(folder, "copy")
        shutil.copytree(kept, copy)
        (copy / STUDY_FILE).chmod(0o444)
        copy.chmod(0o555)
        with without_rights():
            with pytest.raises(PermissionError):
                (copy / "anything").touch()
            assert eq.load_study(copy).complete
        assert [path.name for path in copy.iterdir()] == [STUDY_FILE]
        copy.chmod(0o755)


def test_files_that_are_not_a_store(people: eq.Microdata, tmp_path: Path) -> None:
    study = eq.Study(people, techniques=TECHNIQUES, replicates=1)
    with pytest.raises(eq.InputError, match="there is no study in"):
        eq.load_study(tmp_path)
    (tmp_path / STUDY_FILE).write_text(
        "This is not a database, but it is long enough to look like a file." * 20
    )
    with pytest.raises(eq.InputError, match="damaged, or not a study: file is not a database"):
        study.run(tmp_path, progress=False)
    (tmp_path / STUDY_FILE).unlink()
    connection = sqlite3.connect(tmp_path / STUDY_FILE)
    connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(
        eq.InputError, match="is not a study of this version of equivoc; choose another folder"
    ):
        study.run(tmp_path, progress=False)


def test_a_study_that_cannot_begin_leaves_nothing(people: eq.Microdata, tmp_path: Path) -> None:
    wrong = eq.Study(people, techniques=[eq.Rounding(base=10, on="zip")], replicates=2)
    for folder, left in ((tmp_path / "new", False), (tmp_path, True)):
        with pytest.raises(eq.InputError, match="zip"):
            wrong.run(folder, progress=False)
        assert folder.exists() == left
    assert not list(tmp_path.iterdir())


def test_a_study_that_breaks_off_keeps_what_is_finished(people: eq.Microdata, tmp_path: Path) -> None:
    techniques = [eq.Sampling(fraction=0.2), eq.Rounding(base=10, on="zip")]
    with pytest.raises(eq.InputError, match="zip"):
        eq.Study(people, techniques=techniques, replicates=1).run(tmp_path / "out", progress=False)
    done = eq.Study(people, techniques=techniques[:1], replicates=1).run(tmp_path / "out", progress=False)
    assert (tmp_path / "out" / STUDY_FILE).exists()
    assert len(done.cells) == 1


def test_a_folder_that_cannot_be_created(people: eq.Microdata, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(eq.InputError, match="cannot be created: Not a directory"):
        eq.Study(people, techniques=TECHNIQUES, replicates=1).run(tmp_path / "file" / "out", progress=False)
    (tmp_path / "out" / STUDY_FILE).mkdir(parents=True)
    study = eq.Study(people, techniques=TECHNIQUES, replicates=1)
    with pytest.raises(eq.InputError, match=r"study.sqlite is not a file; choose another folder"):
        study.run(tmp_path / "out", progress=False)
    with pytest.raises(eq.InputError, match="file is a file; give a folder"):
        study.run(tmp_path / "file", progress=False)
    for strange in (7, "a\0b", b"bytes", True):
        with pytest.raises(eq.InputError, match=r"store is .*; give the path of a folder"):
            study.run(strange, progress=False)
        with pytest.raises(eq.InputError, match=r"store is .*; give the path of a folder"):
            eq.load_study(strange)


def test_a_folder_that_may_not_be_written(
    people: eq.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object, **named: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)  # a super-user may write everywhere
    with pytest.raises(eq.InputError, match="cannot be used: Permission denied"):
        eq.Study(people, techniques=TECHNIQUES, replicates=1).run(tmp_path, progress=False)


def test_a_full_disk(plan: Path, environment: dict[str, str]) -> None:
    """A limit on the file size simulates a full disk: finished cells are kept, and the study can be continued."""
    out = plan.parent / "out"
    text = plan.read_text().replace("replicates = 3", "replicates = 60")
    plan.write_text(text)
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (140_000, 140_000));"
        "from equivoc.cli.main import main; sys.argv = ['equivoc', *sys.argv[1:]]; main()"
    )
    command = ["study", str(plan), "--out", str(out), "--workers", "1", "--progress", "none"]
    ran = subprocess.run(
        [sys.executable, "-c", limited, *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.startswith("equivoc: the study folder")
    assert "Finished cells stay" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert 0 < len(eq.load_study(out).cells) < 240
