"""The one state that all tabs show: kept in memory, written to disk after every change, announced to listeners."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equivoc.files import replacing
from equivoc.version import __version__

FILE = "state.json"
VIEW: dict[str, Any] = {
    "tab": "data",
    "known": None,
    "eps": None,
    "technique": "unprotected",
    "seed": 0,
    "prior": "marginal",
    "require": ["certain_right <= 0"],
    "class": None,
}
EMPTY: dict[str, Any] = {
    "revision": 0,
    "file": None,
    "columns": [],
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
        self._changed = asyncio.Event()
        with suppress(OSError, ValueError):
            found = json.loads((folder / FILE).read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("version") == __version__:
                self.content |= {name: found[name] for name in EMPTY if name in found}

    @property
    def revision(self) -> int:
        """It grows with every change."""
        return int(self.content["revision"])

    def shown(self) -> dict[str, Any]:
        """The state as the page gets it: without what only the server needs (names that begin with an underscore)."""
        told = {name: _public(value) for name, value in self.content.items()}
        return {**told, "version": __version__, "folder": {"kept": self.keep}, "started": self.started}

    def change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply a change, write the state and tell the listeners."""
        change(self.content)
        self.content["revision"] += 1
        with replacing(self.folder / FILE, private=True) as temporary:
            temporary.write_text(
                json.dumps({**self.content, "version": __version__}, allow_nan=False), encoding="utf-8"
            )
        self._tell()

    def set(self, **parts: Any) -> None:
        """Replace parts of the state."""
        self.change(lambda content: content.update(parts))

    def tick(self) -> None:
        """Tell the listeners of a change that is not worth writing, such as a job's progress."""
        self.content["revision"] += 1
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def revisions(self, *, patience: float) -> AsyncIterator[int | None]:
        """Every change's revision; None if nothing changed for ``patience`` seconds."""
        seen = -1
        while True:
            if self.revision != seen:
                seen = self.revision
                yield seen
                continue
            try:
                await asyncio.wait_for(self._changed.wait(), patience)
            except TimeoutError:
                yield None


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
