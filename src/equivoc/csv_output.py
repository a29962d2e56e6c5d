"""Writes frames as CSV files without text that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from equivoc.files import replacing

FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
"""First characters of a formula in a spreadsheet, and characters that it skips before one."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_csv(frame: Any, path: Path, *, escape: bool = True, private: bool = False) -> None:
    """Write a pandas frame completely or not at all; ``escape`` prefixes text that looks like a formula (`escaped`).

    ``private`` is that of `equivoc.files.replacing`.
    """
    texts = [place for place, kind in enumerate(frame.dtypes) if getattr(kind, "kind", "O") not in "biufcmM"]
    if escape:
        frame = frame.rename(columns=escaped)
        for place in texts:
            frame.isetitem(place, frame.iloc[:, place].astype(object).map(escaped))
    # Python's writer quotes text with a carriage return only on request.
    returns = any("\r" in str(text) for place in texts for text in frame.iloc[:, place].unique())
    with replacing(path, private=private) as temporary:
        frame.to_csv(temporary, index=False, quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL)


def escaped(value: Any) -> Any:
    """Prefix text that a spreadsheet would take for a formula with an apostrophe; return anything else unchanged.

    >>> escaped("=1+1"), escaped("-2.5"), escaped("-a"), escaped("age"), escaped(-3)
    ("'=1+1", '-2.5', "'-a", 'age', -3)
    """
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def unescaped(value: Any) -> Any:
    """The value that `escaped` was given; text without an apostrophe of ours is returned unchanged.

    >>> unescaped("'=1+1"), unescaped("'-a"), unescaped("'tis"), unescaped("-2.5"), unescaped(None)
    ('=1+1', '-a', "'tis", '-2.5', None)
    """
    if isinstance(value, str) and value.startswith("'") and escaped(value[1:]) == value:
        return value[1:]
    return value
