"""The private folder of a server: where it is, who holds it, and how it is removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equivoc.errors import InputError
from equivoc.files import new_folder

PARTS = ("data", "hierarchies", "jobs")
MARK = "equivoc-serve"
"""A file that says that the folder is ours: no other folder is ever emptied."""


def default_folder() -> Path:
    """The folder of the user's state: $XDG_STATE_HOME/equivoc/serve, or ~/.local/state/equivoc/serve."""
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        state = Path(given) if given and Path(given).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        raise InputError("there is no home folder for the page's files: give --folder.") from None
    return state / "equivoc" / "serve"


@contextmanager
def private_folder(folder: Path, *, keep: bool) -> Iterator[Path]:
    """The folder with its parts, for this server alone; unless ``keep``, what is in it is removed at the end.

    It can be read by its owner only. After a crash nothing is removed, so that the next server goes on.
    """
    new = not folder.exists()
    if (
        folder.exists()
        and not (folder / MARK).exists()
        and any(folder.iterdir() if folder.is_dir() else [folder])
    ):
        raise InputError(f"the folder {folder} holds other files: give --folder with a new or an empty one.")
    new_folder(folder, private=True)
    handle = _lock(folder)
    try:
        folder.chmod(0o700)
        (folder / MARK).touch(mode=0o600)
        for part in PARTS:
            (folder / part).mkdir(mode=0o700, exist_ok=True)
        for half in (
            *folder.glob(".equivoc-*"),
            *folder.glob("*/.equivoc-*"),
        ):  # written when the server was killed
            half.unlink(missing_ok=True)
        try:
            yield folder
        except InputError:  # the file given at the start cannot be read
            if new:
                _empty(folder)
            raise
        if not keep:
            _empty(folder)
    except OSError as problem:
        raise InputError(f"the folder {folder} cannot be used: {problem.strerror}.") from None
    finally:
        os.close(handle)


def _empty(folder: Path) -> None:
    """Remove the folder and what this program put into it."""
    for part in PARTS:
        shutil.rmtree(folder / part, ignore_errors=True)
    for name in ("state.json", MARK, "serve.lock"):
        (folder / name).unlink(missing_ok=True)
    try:
        folder.rmdir()
    except OSError:  # somebody put a file there
        return


def _lock(folder: Path) -> int:
    """A lock that the system releases when the process ends, however it ends."""
    handle = os.open(folder / "serve.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # a system without file locks
        return handle
    except OSError:
        os.close(handle)
        raise InputError(
            f"another equivoc serve uses the folder {folder}: stop it, or give this one its own with --folder."
        ) from None
    return handle
