"""A lock on a gateway's store itself, under whatever name, and the test that the store is still what it was.

The lock is on the file's inode, so a link to it or another spelling of its name meets the same lock, and there is no
lock file that could be removed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from equivoc.errors import InputError

_HELD: set[tuple[int, int]] = set()
"""Device and inode of the stores that this process has locked: closing a second handle of such a file would end the
locks that SQLite holds on it."""


class _Seen(NamedTuple):
    """What only a writer other than this gateway would change."""

    written: int
    """When the file was last written, in ns."""
    size: int
    log: tuple[int, int] | None
    """Device and inode of the write-ahead log; None if there is none."""


class StoreLock:
    """Held from creation until `release`, or until the process ends, however it ends."""

    def __init__(self, given: Path) -> None:
        """Lock the store, which is created empty if nothing is there; nothing in an existing file changes."""
        try:
            import fcntl
        except ImportError:
            raise InputError("a gateway needs file locks, which this system does not have.") from None
        self.given = given
        try:
            self.path = Path(os.path.realpath(given))
            """The store without links: SQLite keeps its write-ahead log beside this name."""
            if _inode(self.path) in _HELD:
                raise _used(given)
            self._handle, self.new = _opened(self.path)
        except OSError as problem:
            raise InputError(f"the store {given} cannot be used: {problem.strerror}.") from None
        try:
            found = os.fstat(self._handle)
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"the store {given} is not a regular file; give another path.")
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if found.st_nlink > 1:
                raise InputError(
                    f"the store {given} has {found.st_nlink} names (hard links), and after a crash its last entries "
                    "would be found under one of them only; remove the other names."
                )
        except BlockingIOError:
            os.close(self._handle)
            raise _used(given) from None
        except OSError as problem:
            os.close(self._handle)
            raise InputError(f"the store {given} cannot be locked: {problem.strerror}.") from None
        except InputError:
            os.close(self._handle)
            raise
        self._file = (found.st_dev, found.st_ino)
        _HELD.add(self._file)
        self._seen: _Seen | None = None

    def look(self) -> None:
        """Remember the file as it is now, after this gateway has written."""
        self._seen = self._now()

    def check(self, *, after_writing: bool = False) -> None:
        """InputError if the store was removed, replaced or written by something else since `look`.

        ``after_writing``: this gateway has just written, so only removed and replaced files are found.
        """
        now, before = self._now(), self._seen
        if before is None:
            return
        if now.log != before.log:
            raise self._changed("its write-ahead log was removed or replaced")
        if not after_writing and now != before:
            raise self._changed("something else has written to it")

    def release(self) -> None:
        """Let another gateway use the store."""
        _HELD.discard(self._file)
        os.close(self._handle)

    def _now(self) -> _Seen:
        try:
            if _inode(self.path) != self._file:
                raise self._changed("it was removed or replaced")
            found = os.fstat(self._handle)
            return _Seen(
                found.st_mtime_ns, found.st_size, _inode(self.path.with_name(f"{self.path.name}-wal"))
            )
        except OSError as problem:
            raise InputError(f"the store {self.given} cannot be used: {problem.strerror}.") from None

    def _changed(self, how: str) -> InputError:
        return InputError(
            f"the store {self.given} is no longer what this gateway wrote: {how}; put the latest state back before "
            "you start again, because a store that lacks answers does not protect the people in them."
        )


def _opened(path: Path) -> tuple[int, bool]:
    """A handle of the file, and whether it was just created."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600), True
    except FileExistsError:
        return os.open(path, flags), False


def _used(given: Path) -> InputError:
    return InputError(
        f"another gateway uses the store {given}: two of them would not know each other's answers. End the other one "
        "first."
    )


def _inode(path: Path) -> tuple[int, int] | None:
    """Device and inode; None if nothing is there."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
