"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equivoc.errors import InputError


def new_folder(folder: Path) -> None:
    """Make the folder, or say why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder} cannot be made a folder: {problem.strerror}.") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A private temporary file beside ``path`` that takes its place once it is written."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}.") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(path)
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}.") from None
    finally:
        temporary.unlink(missing_ok=True)
