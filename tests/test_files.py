"""What may be written where, and how: never over an input, a device, or another output."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from equivoc.errors import InputError
from equivoc.files import check_outputs, replacing, write_csv, writing_into
from tests.commands import run_command


def same_name(folder: Path) -> Path:
    return folder / "people.csv"


def other_spelling(folder: Path) -> Path:
    (folder / "sub").mkdir()
    return folder / "sub" / ".." / "people.csv"


def symbolic_link(folder: Path) -> Path:
    (folder / "link.csv").symlink_to(folder / "people.csv")
    return folder / "link.csv"


def hard_link(folder: Path) -> Path:
    os.link(folder / "people.csv", folder / "twin.csv")
    return folder / "twin.csv"


def linked_folder(folder: Path) -> Path:
    (folder / "here").symlink_to(folder, target_is_directory=True)
    return folder / "here" / "people.csv"


@pytest.mark.parametrize("alias", [same_name, other_spelling, symbolic_link, hard_link, linked_folder])
def test_an_input_is_not_written(alias: Callable[[Path], Path], tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("age\n30\n")
    with pytest.raises(InputError, match="it is also an input"):
        check_outputs([tmp_path / "free.html", alias(tmp_path)], inputs=[None, people])


@pytest.mark.parametrize("second", ["r.html", "./r.html", "R.HTML", "link.html"])
def test_two_outputs_are_not_one_file(second: str, tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "r.html")
    if second == "link.html":
        (tmp_path / "r.html").write_text("")
    with pytest.raises(InputError, match="the same file"):
        check_outputs([tmp_path / "r.html", tmp_path / second])


def test_other_files_pass(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("")
    (tmp_path / "old.html").write_text("")
    check_outputs([tmp_path / "old.html", tmp_path / "new.html"], inputs=[tmp_path / "people.csv"])
    check_outputs([tmp_path / "new" / "a.csv"], folder=tmp_path / "new")
    with pytest.raises(InputError, match="is not a folder"):
        check_outputs([tmp_path / "new" / "a.csv"])


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "choice").write_text("")
    with pytest.raises(InputError, match=r"choice is a file; give a folder\.$"):
        check_outputs([tmp_path / "choice" / "a.csv"], folder=tmp_path / "choice")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def loop(path: Path) -> None:
    path.symlink_to(path)


def folder(path: Path) -> None:
    path.mkdir()


def link_to_a_device(path: Path) -> None:
    path.symlink_to(os.devnull)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("make", [pipe, dangling, loop, folder, link_to_a_device, a_socket])
def test_special_files_are_not_replaced(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    path = Path("out.html")
    make(path)
    before = path.lstat()
    with pytest.raises(InputError, match="cannot be written"):
        check_outputs([path])
    with pytest.raises(InputError, match="cannot be written"), replacing(path):
        pytest.fail("nothing is to be written")
    assert (path.lstat().st_mode, path.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert [each.name for each in tmp_path.iterdir()] == ["out.html"]


def test_a_file_that_became_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    with pytest.raises(InputError, match="cannot be written"), replacing(path):
        os.mkfifo(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to("real.html")
    with replacing(tmp_path / "link.html") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "new"


def test_only_the_owner_can_read_private_files(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for name, private in (("records.csv", True), ("report.html", False)):
            with replacing(tmp_path / name, private=private) as temporary:
                temporary.write_text("")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "records.csv").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "report.html").stat().st_mode) == 0o644


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"]
HARMLESS = ["-5", "+2.5e3", "age", "", "'quoted", "a=b", "1-2"]


def test_texts_that_look_like_formulas_are_escaped(tmp_path: Path) -> None:
    texts = FORMULAS + HARMLESS
    frame = pd.DataFrame({"=key": texts, "n": range(-3, len(texts) - 3), "x": [-0.5] * len(texts)})
    frame["c"] = frame["=key"].astype("category")
    before = frame.copy()
    write_csv(frame, tmp_path / "a.csv")
    told = pd.read_csv(tmp_path / "a.csv", keep_default_na=False, dtype=str, lineterminator=None)
    for column in ("'=key", "c"):
        assert told[column].tolist() == [f"'{text}" for text in FORMULAS] + HARMLESS
    assert told["n"].tolist() == [str(n) for n in frame["n"]]
    assert set(told["x"]) == {"-0.5"}
    pd.testing.assert_frame_equal(frame, before)
    write_csv(frame, tmp_path / "b.csv", escape=False)
    as_it_is = pd.read_csv(tmp_path / "b.csv", keep_default_na=False, dtype=str)
    assert as_it_is["=key"].tolist() == texts


def _fail_to_write(folder: Path, *, first: bool) -> None:
    with writing_into(folder):
        if first:
            (folder / "first").write_text("written before", encoding="utf-8")
        raise InputError("no room")


def test_a_new_folder_that_stays_empty_is_removed_again_and_one_that_was_there_stays(tmp_path: Path) -> None:
    new, there = tmp_path / "new", tmp_path / "there"
    there.mkdir()
    for folder in (new, there):
        with pytest.raises(InputError, match="no room"):
            _fail_to_write(folder, first=False)
    assert not new.exists()
    assert there.is_dir()
    with pytest.raises(InputError, match="no room"):
        _fail_to_write(new, first=True)
    assert (new / "first").exists()


def test_names_that_no_file_can_have_are_a_sentence(tmp_path: Path) -> None:
    """Path.is_dir raises an OSError for a name of more than 255 bytes."""
    (tmp_path / "people.csv").write_text("age,pay\n1,2\n2,3\n3,4\n")
    people = ["people.csv", "--confidential", "pay", "--keys", "age"]
    for words in (
        ["assess", *people, "--technique", f"generalisation:k=3,hierarchies={'x' * 300}"],
        ["assess", *people, "--spill", "x" * 300],
        ["assess", *people, "--spill", "\udcff"],
        ["table", "people.csv", "--by", "age", "--value", "pay", "--hierarchies", "x" * 300],
    ):
        (tmp_path / "\udcff").mkdir(exist_ok=True)
        ran = run_command(tmp_path, words)
        assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
        assert len(ran.stderr.splitlines()) == 1
