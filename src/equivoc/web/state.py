"""The one state that all tabs show: kept in memory, written to disk after every change, marked by a revision."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equivoc.errors import InputError
from equivoc.files import new_folder, replacing
from equivoc.version import __version__

FILE = "state.json"
VIEW: dict[str, Any] = {
    "tab": "data",
    "known": None,
    "eps": None,
    "technique": "unprotected",
    "seed": 0,
    "prior": "marginal",
    "require": [],
    "class": None,
}
EMPTY: dict[str, Any] = {
    "revision": 0,
    "file": None,
    "columns": [],
    "reading": None,
    "roles": None,
    "hierarchies": [],
    "people": None,
    "view": VIEW,
    "settings": [],
    "jobs": [],
    "strongest": None,
}


class State:
    """The state; all changes are made from one event loop."""

    def __init__(self, folder: Path, *, keep: bool) -> None:
        self.folder = folder
        self.keep = keep
        self.started = datetime.now(UTC).isoformat()
        self.content: dict[str, Any] = deepcopy(EMPTY)
        with suppress(OSError, ValueError):
            found = json.loads((folder / FILE).read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("version") == __version__:
                self.content |= {name: found[name] for name in EMPTY if name in found}

    @property
    def revision(self) -> int:
        """It grows with every change."""
        return int(self.content["revision"])

    def shown(self) -> dict[str, Any]:
        """The state as the page gets it: without what only the server needs (names that begin with an underscore).

        The view is the page's own, and may have keys of the file by name.
        """
        content = {name: value if name == "view" else _public(value) for name, value in self.content.items()}
        about = {"version": __version__, "folder": {"kept": self.keep}, "started": self.started}
        return {**content, **about, "mark": self.mark}

    @property
    def mark(self) -> str:
        """The same as long as nothing has changed, also across starts of the server."""
        return f"{self.revision} {self.started}"

    def change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply a change and write the state."""
        change(self.content)
        self.content["revision"] += 1
        with replacing(self.folder / FILE, private=True) as temporary:
            temporary.write_text(
                json.dumps({**self.content, "version": __version__}, allow_nan=False), encoding="utf-8"
            )

    def set(self, **parts: Any) -> None:
        """Replace parts of the state."""
        self.change(lambda content: content.update(parts))

    def tick(self) -> None:
        """Mark a change that is not worth writing, such as a job's progress."""
        self.content["revision"] += 1


def _public(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _public(each) for name, each in value.items() if not name.startswith("_")}
    if isinstance(value, list):
        return [_public(each) for each in value]
    return value


def merged(content: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7396) applied: null removes a name.

    >>> merged({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": None}, "e": 4})
    {'a': 1, 'b': {'d': 3}, 'e': 4}
    """
    if not isinstance(patch, dict):
        return patch
    found = dict(content) if isinstance(content, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found


# The private folder of a server: where it is, who holds it, and how it is removed.

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
        for half in [*folder.rglob(".equivoc-*")]:  # written when the server was killed
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
