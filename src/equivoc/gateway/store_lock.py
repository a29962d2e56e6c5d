"""A lock beside a gateway's store: one gateway at a time decides on it."""

from __future__ import annotations

import os
from pathlib import Path

from equivoc.errors import InputError


class StoreLock:
    """Held from creation until `release`, or until the process ends, however it ends."""

    @staticmethod
    def path(store: Path) -> Path:
        """The lock's file."""
        return store.with_name(f"{store.name}.lock")

    def __init__(self, store: Path) -> None:
        path = self.path(store)
        try:
            import fcntl
        except ImportError:
            raise InputError("a gateway needs file locks, which this system does not have.") from None
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise InputError(f"the store {store} cannot be used: {problem.strerror}.") from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._handle)
            raise InputError(
                f"another gateway uses the store {store}: two of them would not know each other's answers. End the "
                "other one first."
            ) from None
        except OSError as problem:
            os.close(self._handle)
            raise InputError(f"the store {store} cannot be locked: {problem.strerror}.") from None

    def release(self) -> None:
        """Let another gateway use the store. The lock file stays: removing it could take it from a third one."""
        os.close(self._handle)
