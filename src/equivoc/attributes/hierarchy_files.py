"""Files of hierarchies: CSV as ARX writes it, and the .hrc files of τ-ARGUS."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from equivoc.errors import InputError
from equivoc.files import check_readable

SEPARATORS = (";", "\t", ",")
HEADERS = ("value", "values")
"""Words that the first cell of a header may contain, besides the key's name."""
ARGUS = ".hrc"
"""The ending of τ-ARGUS's files, which tells them from CSV."""
USUAL_LEAD = "@"
"""The string that τ-ARGUS puts before a code once for each level, unless another is declared."""


class HierarchyTable(NamedTuple):
    """The rows of a hierarchy, each a value and its groups, and where they stand in the file."""

    rows: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    """Names of the levels above the values; empty if the file has none."""
    lines: tuple[int, ...]


def read_hierarchy(path: Path, *, key: str) -> HierarchyTable:
    """The hierarchy of a key in a file: τ-ARGUS's if its name ends in ``.hrc``, else CSV."""
    text = _text(path, key)
    return argus_rows(text, str(path)) if path.suffix.casefold() == ARGUS else _csv_rows(text, path, key)


def _text(path: Path, key: str) -> str:
    try:
        check_readable(path)
        return path.read_text(encoding="utf-8-sig")
    except InputError as refused:
        raise InputError(f"the hierarchy of {key!r} cannot be used: {refused}.") from None
    except OSError as refused:
        raise InputError(f"the hierarchy {path} cannot be read: {refused.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"the hierarchy {path} is not a text file; give CSV in UTF-8.") from None


def _csv_rows(text: str, path: Path, key: str) -> HierarchyTable:
    """The separator (``;``, tab or ``,``) is found, a header (the key's name first) skipped."""
    try:
        found = min((_split(text, by) for by in SEPARATORS), key=lambda split: _unevenness(split.values()))
    except csv.Error as problem:
        raise InputError(f"the hierarchy {path} cannot be read as CSV: {problem}.") from None
    lines, rows = list(found), list(found.values())
    names: tuple[str, ...] = ()
    if rows and rows[0][0].casefold() in (key.casefold(), *HEADERS):
        names, rows, lines = rows[0][1:], rows[1:], lines[1:]
    return HierarchyTable(tuple(rows), names, tuple(lines))


def _split(text: str, by: str) -> dict[int, tuple[str, ...]]:
    """The cells of each row that is not blank, by the line on which it begins."""
    found = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=by)
    begin = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            found[begin] = tuple(cell.strip() for cell in row)
        begin = reader.line_num + 1
    return found


def _unevenness(rows: Iterable[tuple[str, ...]]) -> tuple[bool, int]:
    """Sort key: smallest for the separator that gives every row the same number of cells, more than one."""
    widths = {len(row) for row in rows}
    return max(widths, default=1) < 2, len(widths)


def argus_rows(text: str, source: str) -> HierarchyTable:
    """The codes that have none below them, each with the codes above it, up to the first level.

    A line is a code with the lead string before it once for each level below the first; the total is not in the file.
    Codes at different depths are aligned at the top: a short branch repeats its code.

    >>> argus_rows("Nr\\n@1\\n@@10\\n@@11\\n@2\\nZd", "region.hrc").rows
    (('10', '1', 'Nr'), ('11', '1', 'Nr'), ('2', '2', 'Nr'), ('Zd', 'Zd', 'Zd'))
    """
    codes = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not codes:
        raise InputError(f"the hierarchy {source} is empty; give a line for each code.")
    lead = _lead([code for _, code in codes], source)
    depths: list[int] = []
    names: list[str] = []
    for number, code in codes:
        name = code.lstrip(lead) if lead else code
        depth, name = len(code) - len(name), name.strip()
        most = depths[-1] + 1 if depths else 0
        if not name or depth > most:
            what = "has no code" if not name else "is too deep"
            raise InputError(
                f"line {number} of the hierarchy {source} {what}; begin each code with one {lead!r} "
                "more than the code above it."
            )
        depths.append(depth)
        names.append(name)
    height = max(depths) + 1
    rows, lines, above = [], [], [""] * height
    for at, (depth, name) in enumerate(zip(depths, names, strict=True)):
        above[depth] = name
        if at + 1 == len(depths) or depths[at + 1] <= depth:
            upwards = above[depth::-1]
            rows.append((*[name] * (height - depth - 1), *upwards))
            lines.append(codes[at][0])
    if height == 1:  # a list of codes, with the total above them
        return HierarchyTable(tuple((*row, "*") for row in rows), ("any",), tuple(lines))
    return HierarchyTable(tuple(rows), (), tuple(lines))


def _lead(codes: list[str], source: str) -> str:
    """The lead string: the sign with which codes after the first begin, most often ``@``."""
    marks = {code[0] for code in codes[1:] if not code[0].isalnum()}
    marks.discard(codes[0][0])
    if USUAL_LEAD in marks:
        return USUAL_LEAD
    if len(marks) > 1:
        both = " and ".join(map(repr, sorted(marks)[:2]))
        raise InputError(
            f"the hierarchy {source} has codes that begin with {both}; put one sign before codes below others, such "
            f"as {USUAL_LEAD!r}."
        )
    return marks.pop() if marks else ""
