"""Temporary files that do not stay behind: they are removed when a signal ends the process, and by the next run if
the process was killed.

Each is locked as long as its process lives. Whoever writes into the same folder later removes those that nobody holds
any more, and so never those of a second run.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_NAME = re.compile(r"\.equivoc-[0-9]+-[0-9a-f]{16}(\..*)?", re.DOTALL)
"""The number of the process, and random digits."""
_ours: dict[Path, int | None] = {}
"""What this process has to remove, with the handle that holds its lock."""
_held_back = 0
_waiting: list[int] = []
"""Signals that came while they were held back."""


@contextmanager
def temporary_file(target: Path, *, private: bool) -> Iterator[Path]:
    """A new empty file next to ``target``, with its ending; removed at the end if it is still there.

    ``private`` files can be read by their owner only; others have the usual permissions of new files.
    """
    with _removed_at_the_end(target.parent, target.suffix) as path:
        mode = 0o600 if private else 0o666
        while not _held(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode):
            pass  # another run took it for a leftover before it was locked
        yield path


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """A new folder that only its owner can enter, removed at the end with all that is in it."""
    with _removed_at_the_end(parent, "") as path:
        path.mkdir(mode=0o700)
        while os.name == "posix" and not _held(path, os.O_RDONLY):
            path.mkdir(mode=0o700)
        yield path


@contextmanager
def second_name(target: Path) -> Iterator[Path]:
    """Another name (a hard link) of an existing file, removed at the end; OSError if the disk has no links."""
    with _removed_at_the_end(target.parent, ".former") as path:
        os.link(target, path)
        yield path


@contextmanager
def signals_held_back() -> Iterator[None]:
    """A signal that ends the process does so after this block, which must be short."""
    global _held_back
    _held_back += 1
    try:
        yield
    finally:
        _held_back -= 1
        if _waiting and not _held_back:
            number = _waiting[0]
            _waiting.clear()
            os.kill(os.getpid(), number)


def comes_too_early(number: int) -> bool:
    """For a handler: True if signals are held back; this one comes again later."""
    if _held_back:
        _waiting.append(number)
    return _held_back > 0


def remove_ours() -> None:
    """Remove what this process has not removed yet."""
    for path in list(_ours):
        _remove(path)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files in ``folder`` whose process no longer lives."""
    try:
        with os.scandir(folder) as entries:
            found = [folder / entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return
    for path in found:
        if path not in _ours:
            _remove_if_left(path)


@contextmanager
def _removed_at_the_end(folder: Path, suffix: str) -> Iterator[Path]:
    """A new name in ``folder``; what gets this name is removed at the end, also if a signal ends the process."""
    remove_leftovers(folder)
    path = folder / f".equivoc-{os.getpid()}-{secrets.token_hex(8)}{suffix}"
    with _in_order_if_terminated():
        _ours[path] = None  # before it exists: a signal can come at any moment
        try:
            yield path
        finally:
            _remove(path)


def _held(path: Path, how: int, mode: int = 0) -> bool:
    """Open and lock it until it is removed; False if it was removed before it was locked."""
    handle = os.open(path, how, mode)
    _lock(handle, wait=True)
    _ours[path] = handle
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    os.close(handle)
    _ours[path] = None
    return False


def _remove(path: Path) -> None:
    """Remove it if it is still there, and then release its lock."""
    _delete(path)
    handle = _ours.pop(path, None)
    if handle is not None:
        os.close(handle)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _remove_if_left(path: Path) -> None:
    how = os.O_RDONLY if path.is_dir() else os.O_RDWR
    try:
        handle = os.open(path, how | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:  # somebody else's, or just removed
        return
    try:
        if _lock(handle, wait=False):
            _delete(path)
    finally:
        os.close(handle)


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock it until the handle is closed or the process ends; False if another process holds it, or without locks."""
    try:
        import fcntl
    except (
        ImportError
    ):  # Windows removes no file that is open, and without locks nothing is taken for a leftover
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


@contextmanager
def _in_order_if_terminated() -> Iterator[None]:
    """Remove our temporary files if SIGTERM ends the process, unless the program handles SIGTERM itself."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        if not comes_too_early(number):
            remove_ours()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
