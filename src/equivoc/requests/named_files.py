"""The files that parameters name: a released table, hierarchies, a matrix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.files import is_folder
from equivoc.notation.declared import params

if TYPE_CHECKING:
    from equivoc.techniques.technique import Technique


def technique_files(technique: Technique) -> Iterator[Path]:
    """The files that a technique's parameters name: ``table=released.csv``, ``hierarchies=age:age.csv+zip:zip.csv``."""
    return named_files(
        [getattr(technique, each.name) for each in params(type(technique)) if each.kind == "file"]
    )


def named_files(given: Any) -> Iterator[Path]:
    """The files that these values name, each a path, a mapping or a list of paths, hierarchies or their text."""
    from equivoc.data.hierarchies import Hierarchies

    waiting: list[Any] = [given]
    while waiting:
        named = waiting.pop()
        if isinstance(named, Hierarchies):
            named = str(named)
        if isinstance(named, Mapping):
            waiting += named.values()
        elif isinstance(named, (list, tuple)):
            waiting += named
        elif isinstance(named, (str, os.PathLike)):
            for text in {os.fspath(named), *re.split(r"[+:]", os.fspath(named))}:
                path = Path(text)
                yield from path.iterdir() if text and is_folder(path) else [path]
