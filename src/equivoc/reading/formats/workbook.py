"""What a workbook's own XML says before a library reads it: sheets, their size, errors, formulas without results.

The library gives an empty cell for an error, and reserves memory for the whole rectangle of cells in use.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from equivoc.errors import InputError
from equivoc.reading.formats.kinds import Format, damaged

MOST_BYTES = 2 * 2**30
"""Of XML, decompressed."""
_PIECE = 1 << 20
_LONGEST_ROW = 64 << 20
_CELLS = re.compile(rb"<(?:\w+:)?c(?: [^>]*?)? r=\"([A-Z]{1,3})")
_ROWS = re.compile(rb"<(?:\w+:)?row(?: [^>]*?)? r=\"([0-9]{1,9})\"")
_ENTRY = re.compile(rb"<(?:\w+:)?v>[^<]|<(?:\w+:)?is>")
_ERROR = re.compile(
    rb"<(?:\w+:)?c(?= [^>]*t=\"e\")[^>]*? r=\"([A-Z0-9]+)\"[^>]*>(?:(?!</(?:\w+:)?c>).)*?<(?:\w+:)?v>([^<]*)",
    re.S,
)
_FORMULA = re.compile(
    rb"<(?:\w+:)?c([^>]*)><(?:\w+:)?f(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>|</(?:\w+:)?c>)"
)
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell [^>]*?ref=\"([A-Z0-9:]+)\"")
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_CALC = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


@dataclass
class Look:
    """What is known of a sheet before it is read."""

    name: str
    rows: int = 0
    """Up to the last cell in use."""
    columns: int = 0
    entries: bool = False
    """True if some cell has an entry."""
    error: tuple[str, str] | None = None
    """The first cell with an error, and which."""
    formula: str | None = None
    """The first cell with a formula whose result is not in the file."""
    merged: str | None = None
    """The first range of merged cells."""


def looks(path: Path, known: Format) -> list[Look]:
    """A look at every sheet, in the workbook's order."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(
                each.file_size for each in archive.infolist() if each.filename.endswith((".xml", ".rels"))
            )
            if size > MOST_BYTES:
                raise InputError(
                    f"{path} holds {size / 2**30:.1f} GiB of cells, and workbooks are read up to "
                    f"{MOST_BYTES / 2**30:g} GiB: save it as CSV or Parquet"
                )
            return _of_ods(archive) if known == "ods" else list(_of_excel(archive))
    except (zipfile.BadZipFile, zlib.error, ElementTree.ParseError, expat.ExpatError) as broken:
        raise damaged(path, known, broken) from None
    except (KeyError, OSError, EOFError, NotImplementedError, ValueError, RuntimeError) as broken:
        if isinstance(broken, InputError):
            raise
        if isinstance(broken, RuntimeError) and "password" in str(broken).lower():
            raise InputError(f"{path} is protected by a password: save a copy without one") from None
        raise damaged(path, known, broken) from None


def _of_excel(archive: zipfile.ZipFile) -> Iterator[Look]:
    related = {
        each.get("Id"): each for each in ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    }
    for other in ("xl/sharedStrings.xml", "xl/styles.xml"):
        if other in archive.namelist():
            for _ in _pieces(archive, other):  # a wrong checksum is an error here
                pass
    for each in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter():
        if each.tag.rpartition("}")[2] != "sheet":
            continue
        key = next((value for name, value in each.items() if name.endswith("}id")), None)
        part = related.get(key)
        if part is None or not str(part.get("Type")).endswith("/worksheet"):
            continue  # a chart
        target = str(part.get("Target"))
        inside = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        yield _look(str(each.get("name")), archive, inside)


def _look(name: str, archive: zipfile.ZipFile, part: str) -> Look:
    found = Look(name)
    columns: set[bytes] = set()
    held = b""
    for piece in _pieces(archive, part):
        held += piece
        end = held.rfind(b"</row>") if b"</row>" in held else held.rfind(b"row>")
        if end < 0:
            if len(held) > _LONGEST_ROW:
                raise zipfile.BadZipFile(f"a row of {part} has no end")
            continue
        _enter(found, columns, held[: end + 6])
        held = held[end + 6 :]
    _enter(found, columns, held)
    found.columns = max((_number(each.decode()) for each in columns), default=0)
    return found


def _enter(found: Look, columns: set[bytes], text: bytes) -> None:
    """What these whole rows say."""
    columns |= set(_CELLS.findall(text))
    rows = _ROWS.findall(text)
    found.rows = max([found.rows, *map(int, rows)])
    found.entries = found.entries or bool(_ENTRY.search(text))
    if found.error is None and b't="e"' in text and (error := _ERROR.search(text)):
        found.error = error.group(1).decode(), error.group(2).decode("utf-8", "replace")
    if found.formula is None:
        for each in _FORMULA.finditer(text):
            if b't="str"' not in each.group(1):
                cell = re.search(rb'r="([A-Z0-9]+)"', each.group(1))
                found.formula = cell.group(1).decode() if cell else "a cell"
                break
    if found.merged is None and (merged := _MERGED.search(text)):
        found.merged = merged.group(1).decode()


def _of_ods(archive: zipfile.ZipFile) -> list[Look]:
    reader = _OdsReader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    manifest = archive.read("META-INF/manifest.xml") if "META-INF/manifest.xml" in archive.namelist() else b""
    if b"encryption-data" in manifest:
        raise RuntimeError("it needs a password")
    for piece in _pieces(archive, "content.xml"):
        parser.Parse(piece, False)
    parser.Parse(b"", True)
    return reader.looks


class _OdsReader:
    """Counts rows and cells, with those that are written once and repeated."""

    def __init__(self) -> None:
        self.looks: list[Look] = []
        self.row = self.rows = self.column = 0
        self.error: str | None = None

    def start(self, tag: str, given: dict[str, Any]) -> None:
        if tag == f"{_TABLE} table":
            self.looks.append(Look(str(given.get(f"{_TABLE} name"))))
            self.row = 0
        elif tag == f"{_TABLE} table-row":
            self.rows, self.column = int(given.get(f"{_TABLE} number-rows-repeated", 1)), 0
        elif tag in (f"{_TABLE} table-cell", f"{_TABLE} covered-table-cell") and self.looks:
            self._cell(given)

    def _cell(self, given: dict[str, Any]) -> None:
        found = self.looks[-1]
        wide = int(given.get(f"{_TABLE} number-columns-repeated", 1))
        here = address(self.row, self.column)
        self.column += wide
        if f"{_OFFICE} value-type" in given:
            found.entries = True
            found.rows, found.columns = self.row + self.rows, max(found.columns, self.column)
            if given.get(f"{_CALC} value-type") == "error" and found.error is None:
                found.error = here, ""
                self.error = ""
        elif f"{_TABLE} formula" in given and found.formula is None:
            found.formula = here
        across = int(given.get(f"{_TABLE} number-columns-spanned", 1))
        down = int(given.get(f"{_TABLE} number-rows-spanned", 1))
        if (across > 1 or down > 1) and found.merged is None:
            found.merged = f"{here}:{address(self.row + down - 1, self.column - 1 + across - 1)}"

    def text(self, text: str) -> None:
        if self.error is not None:
            self.error += text

    def end(self, tag: str) -> None:
        if tag == f"{_TABLE} table-row":
            self.row += self.rows
        elif tag == f"{_TABLE} table-cell" and self.error is not None:
            found = self.looks[-1]
            found.error = found.error and (found.error[0], self.error.strip())
            self.error = None


def _pieces(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    with archive.open(part) as file:
        while piece := file.read(_PIECE):
            yield piece


def _number(letters: str) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def column_letters(column: int) -> str:
    """The name of a column, counted from 0.

    >>> column_letters(0), column_letters(26)
    ('A', 'AA')
    """
    letters, left = "", column + 1
    while left:
        left, digit = divmod(left - 1, 26)
        letters = chr(65 + digit) + letters
    return letters


def address(row: int, column: int) -> str:
    """A cell as spreadsheets name it; both counted from 0.

    >>> address(2, 1)
    'B3'
    """
    return f"{column_letters(column)}{row + 1}"
