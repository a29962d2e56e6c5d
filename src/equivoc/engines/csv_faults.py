"""Finds why a CSV file cannot be read, and on which line: a second, slower pass after an error."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_ENDINGS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
# The engine rejects longer records.
_LONGEST_RECORD = 2_000_000


def is_gzip(path: Path) -> bool:
    """True if the file is gzip-compressed, by its name or first bytes."""
    if path.suffix.lower() == ".gz":
        return True
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def open_text(path: Path) -> IO[str]:
    """The file's text, decompressed, without a byte order mark."""
    if is_gzip(path):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def fault(path: Path, delimiter: str, columns: int) -> str | None:
    """What is wrong with the file, and on which line; None if nothing is found."""
    try:
        return _first_fault(path, delimiter, columns)
    except UnicodeDecodeError:
        return undecodable(path).removeprefix(f"{path} ")


def undecodable(path: Path) -> str:
    """The message for a file that is not UTF-8, with the place."""
    advice = "save it as UTF-8 and read it again"
    seen = 0
    with gzip.open(path) if is_gzip(path) else path.open("rb") as file:
        for line in file:
            try:
                line.decode()
            except UnicodeDecodeError as wrong:
                before = line[: wrong.start]
                # A carriage return may end a line as well.
                lines = (before + b"x").splitlines()
                place = f"line {seen + len(lines)}, byte {len(lines[-1])}, is 0x{line[wrong.start]:02x}"
                return f"{path} is not UTF-8 text ({place}): {advice}"
            seen += len(line.splitlines())
    return f"{path} is not UTF-8 text: {advice}"


def _first_fault(path: Path, delimiter: str, columns: int) -> str | None:
    with open_text(path) as text:
        lines = _Lines(text)
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
        ending, begins = "", 1
        while True:
            try:
                fields = next(reader, None)
            except csv.Error as wrong:
                if "expected after" in str(wrong) and _blank_after_quote(lines.last, delimiter):
                    begins = lines.count + 1
                    continue  # the engine accepts it
                return _quote_fault(str(wrong), begins)
            if fields is None:
                return None
            if fields and len(fields) != columns and not (len(fields) == columns + 1 and fields[-1] == ""):
                many = f"{len(fields)} field{'s' * (len(fields) != 1)}"
                return f"line {begins} has {many}, but the header has {columns}"
            if sum(map(len, fields)) > _LONGEST_RECORD:
                return f"line {begins} is longer than {_LONGEST_RECORD:,} characters"
            if ending and lines.ending not in ("", ending):
                return (
                    f"its line endings are mixed (line {begins - 1} ends with {_ENDINGS[ending]}, "
                    f"line {lines.count} with {_ENDINGS[lines.ending]}): save it with one kind"
                )
            ending, begins = lines.ending, lines.count + 1


class _Lines:
    """The lines of a text, remembering the last one given."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text
        self.count = 0
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._text:
            self.last = line
            self.count += 1
            yield line

    @property
    def ending(self) -> str:
        return self.last[len(self.last.rstrip("\r\n")) :]


def _blank_after_quote(line: str, delimiter: str) -> bool:
    return re.search(rf'"[ ]+({re.escape(delimiter)}|$)', line.rstrip("\r\n")) is not None


def _quote_fault(said: str, begins: int) -> str:
    if "expected after" in said:
        return (
            f"a quoted field in the record that begins on line {begins} is followed by more text: "
            "close the quote, or double the quotes inside the field"
        )
    if "field larger" in said:
        limit = f"more than {csv.field_size_limit():,} characters"
        return f"a field in the record that begins on line {begins} has {limit}: is a quote not closed?"
    return f"a quote in the record that begins on line {begins} is not closed"
