"""What is temporary does not stay: after a signal, and after SIGKILL as soon as the next run writes there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from equivoc.errors import InputError
from equivoc.files import replacing, replacing_together
from equivoc.temporary_files import second_name, temporary_file, temporary_folder

WRITING = """
import sys, time
from pathlib import Path
from equivoc.files import replacing_together
from equivoc.temporary_files import temporary_folder
folder = Path(sys.argv[1])
names = [folder / "a.csv", folder / "b.json"]
with replacing_together(names, private=True) as both, temporary_folder(folder) as inside:
    for path in both:
        path.write_text("Eve,7")
    (inside / "spilled").write_text("Eve,7")
    print("begun", flush=True)
    time.sleep(600)
"""


@contextmanager
def writing(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has begun to write three things into the folder."""
    before = len(list(folder.glob(".equivoc-*")))
    started = subprocess.Popen([sys.executable, "-c", WRITING, folder], stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == "begun\n"
        assert len(list(folder.glob(".equivoc-*"))) == before + 3
        yield started
    finally:
        started.kill()
        started.communicate()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_sigterm_in_a_script(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("before")
    with writing(tmp_path) as process:
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM
        assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "before"


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_the_next_run_removes_what_nobody_holds(tmp_path: Path) -> None:
    others = [".equivoc-notes.csv", ".equivoc-12-00.csv", "equivoc-1-0123456789abcdef.csv"]
    for name in others:
        (tmp_path / name).write_text("of somebody else")
    with writing(tmp_path) as dead, writing(tmp_path) as alive:
        dead.kill()
        dead.wait()
        begun = {path.name for path in tmp_path.glob(".equivoc-*-*")}
        assert len(begun) == 7  # two times three, and one of somebody else
        with replacing(tmp_path / "mine.csv") as temporary:
            temporary.write_text("done")
            left = {path.name for path in tmp_path.glob(f".equivoc-{alive.pid}-*")}
            assert len(left) == 3  # a second run goes on
            assert not list(tmp_path.glob(f".equivoc-{dead.pid}-*"))
        assert {path.name for path in tmp_path.iterdir()} == {*others, *left, "mine.csv"}


def test_two_at_once_in_one_process(tmp_path: Path) -> None:
    with temporary_file(tmp_path / "a.csv", private=True) as one, temporary_folder(tmp_path) as folder:
        with temporary_file(tmp_path / "a.csv", private=False) as other:
            assert len({one, other, folder}) == 3
            assert all(path.exists() for path in (one, other, folder))
        assert one.exists()
    assert not list(tmp_path.iterdir())


def test_a_leftover_that_is_taken_before_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run finds the new file between its creation and its lock, and removes it: it is made again."""
    open_it, taken = os.open, []

    def opened(path: Path, *given: int) -> int:
        handle = open_it(path, *given)
        if not taken and ".equivoc-" in str(path):
            taken.append(path)
            Path(path).unlink()
        return handle

    monkeypatch.setattr(os, "open", opened)
    with replacing(tmp_path / "a.csv") as temporary:
        temporary.write_text("done")
    assert taken == [temporary]
    assert (tmp_path / "a.csv").read_text() == "done"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)


@pytest.mark.parametrize("disk", [lambda _: None, no_links])
@pytest.mark.parametrize("there", [["a", "b"], ["a"], ["b"], []])
def test_both_or_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: list[str],
    disk: Callable[[pytest.MonkeyPatch], None],
) -> None:
    disk(monkeypatch)
    for name in there:
        (tmp_path / name).write_text("before")
    move = Path.replace

    def fails_at_the_second(self: Path, target: Path) -> Path:
        if Path(target).name == "b":
            raise PermissionError(13, "Permission denied")
        return move(self, target)

    def write() -> None:
        with replacing_together([tmp_path / "a", tmp_path / "b"]) as (one, other):
            one.write_text("new")
            other.write_text("new")

    with monkeypatch.context() as failing:
        failing.setattr(Path, "replace", fails_at_the_second)
        with pytest.raises(InputError, match=r"a and .*b cannot be written: Permission denied"):
            write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(there, "before")
    write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_between_two_files_waits_until_both_are_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("before")
    code = (
        "import os, signal, sys; from pathlib import Path; from equivoc.files import replacing_together\n"
        "folder, move = Path(sys.argv[1]), Path.replace\n"
        "def moved(self, target):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return move(self, target)\n"
        "with replacing_together([folder / 'a', folder / 'b']) as files:\n"
        "    [path.write_text('new') for path in files]\n"
        "    Path.replace = moved\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    assert done.returncode == -signal.SIGTERM
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}


def test_a_former_file_is_one_more_name(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("before")
    with second_name(target) as former:
        (tmp_path / "new").write_text("new")
        (tmp_path / "new").replace(target)
        assert former.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
