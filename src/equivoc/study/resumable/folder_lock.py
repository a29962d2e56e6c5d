"""A lock: one process at a time computes a study, or a comparison, in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equivoc.errors import InputError


@contextmanager
def only_here(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock of ``what`` is computed in the folder, such as "study".

    InputError if another process holds the lock; the system releases it when the process ends.

    Without file locks (Windows, some network disks) nothing is locked: two processes then compute the same cells,
    which changes no result.
    """
    path = folder / f"{what}.lock"
    handle = _held(path, folder, what)
    try:
        yield
    finally:
        if handle is not None:
            path.unlink(missing_ok=True)  # removed before the lock is released, so that it is still ours
            os.close(handle)


def _held(path: Path, folder: Path, what: str) -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError as problem:
            raise InputError(f"the {what} folder {folder} cannot be used: {problem.strerror}.") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise InputError(
                f"another process is computing a {what} in {folder}; wait until it ends, or choose another folder."
            ) from None
        except OSError:  # a disk without locks
            os.close(handle)
            path.unlink(missing_ok=True)
            return None
        if _is_at(handle, path):
            return handle
        os.close(handle)  # removed by its owner while we opened it


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
