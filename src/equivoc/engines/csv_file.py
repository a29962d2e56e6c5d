"""A CSV file: its header, its columns as text, and the line of each record."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING

from equivoc.attributes.written_values import is_measured, is_missing_word
from equivoc.engines.duckdb import ANY_MEMORY, Workspace, batches, call, connect, first_line, literal, reading
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

# Finds why a CSV file cannot be read, and on which line: a second, slower pass after an error.

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


# Finds CSV files whose first line is a record, not the columns' names: read as names, one person would be
# lost.

_LOOKED_AT = 1000
"""Records below the first line."""
_LONGEST = 10
"""More digits than a counting name has."""


def without_header(path: Path, delimiter: str, first: Sequence[str]) -> bool:
    """True if the cells of the first line are values like those below them, and none is a name.

    A cell is a value if it is a number or a date and so is all that stands below it, or if the same text stands
    below it. It is a name if it is a text above nothing but numbers or dates; numbers that count up (2019, 2020, …) are
    names, too. A single name makes a header.
    """
    try:
        with open_text(path) as text:
            reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
            next(reader)
            rows = [row for row in islice(reader, _LOOKED_AT) if len(row) == len(first)]
    except (UnicodeDecodeError, csv.Error, OSError, EOFError):
        return False  # reading the records says what is wrong
    values = 0
    if _counts_up([name.strip() for name in first if is_measured(name.strip())]):
        return False
    for name, below in zip(first, zip(*rows, strict=True), strict=False):
        held = {cell.strip() for cell in below} - {""}
        alike = bool(held) and all(map(is_measured, held))
        if is_measured(name.strip()):
            values += alike
        elif alike and not is_missing_word(name):
            return False
        else:
            values += name.strip() in held
    return values > 0


def _counts_up(cells: Sequence[str]) -> bool:
    """True for two whole numbers or more, each one above the one before."""
    if len(cells) < 2 or not all(
        cell.isascii() and cell.isdigit() and len(cell) < _LONGEST for cell in cells
    ):
        return False
    return all(int(later) == int(earlier) + 1 for earlier, later in pairwise(cells))


_DELIMITERS = ",;\t|"
_PIECE = 1 << 20
_MOST_SHOWN, _SHOWN = 5, 20
"""Cells of the first line in a message, and characters of each."""


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with a header, read as text: types are inferred later from all values, not from a
    sample.

    The delimiter is whichever of comma, semicolon, tab and bar splits the header most. Only empty fields are
    null.
    """

    path: Path
    work: Workspace = ANY_MEMORY

    @cached_property
    def _header(self) -> tuple[str, list[str]]:
        best: tuple[str, list[str]] = (",", [])
        broken: csv.Error | None = None
        try:
            with open_text(self.path) as text:
                for delimiter in _DELIMITERS:
                    text.seek(0)
                    try:
                        names = next(csv.reader(text, delimiter=delimiter, strict=True), [])
                    except csv.Error as wrong:
                        broken = wrong  # another delimiter may fit
                        continue
                    if len(names) > len(best[1]):
                        best = (delimiter, names)
        except UnicodeDecodeError:
            raise InputError(undecodable(self.path)) from None
        except (OSError, EOFError, zlib.error) as wrong:
            raise InputError(f"{self.path} cannot be read: {first_line(wrong)}") from None
        if best[1]:
            if without_header(self.path, *best):
                raise InputError(self._no_header(best[1]))
            return best
        if broken is not None:
            raise InputError(f"{self.path} cannot be read: a quote in its header is not closed")
        raise InputError(
            f"{self.path} is empty, or its first line is: give a CSV file with a header and records"
        )

    def _no_header(self, first: Sequence[str]) -> str:
        shown = ", ".join(cell[:_SHOWN] for cell in first[:_MOST_SHOWN])
        return (
            f"{self.path} seems to have no header: its first line ({shown}{', …' if len(first) > _MOST_SHOWN else ''}) "
            "looks like a record, which would be lost: write a first line with the columns' names, at least one of "
            "them a word that is not a value of its column"
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._header[1])

    @property
    def source(self) -> exp.Expression:
        """The file as a table of DuckDB: texts, in columns named c0, c1, … by their position."""
        from sqlglot import exp

        delimiter, header = self._header
        packed = is_gzip(self.path)
        if packed:
            self._check_gzip()
        quote = exp.Literal.string('"')
        # Without it, the engine finds no records if a quoted name has a line end other than the file's.
        line_end = {"new_line": exp.Literal.string(r"\r\n")} if self._ends_with_crlf() else {}
        return call(
            "read_csv",
            literal(self.path),
            auto_detect=exp.false(),
            compression=exp.Literal.string("gzip" if packed else "none"),
            header=exp.true(),
            delim=exp.Literal.string(delimiter),
            quote=quote,
            escape=quote.copy(),
            nullstr=exp.Literal.string(""),
            **line_end,
            hive_partitioning=exp.false(),
            # By position, because names may differ only in case.
            columns=exp.Struct(
                expressions=[
                    exp.PropertyEQ(this=exp.Literal.string(f"c{i}"), expression=exp.Literal.string("VARCHAR"))
                    for i in range(len(header))
                ]
            ),
        )

    def stream(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns as text, piece by piece, in order."""
        import duckdb

        from equivoc.engines import statements

        delimiter, header = self._header
        read = self.source
        wanted = {name: statements.column(f"c{header.index(name)}") for name in names}
        with reading(self.path, self.work), connect(self.path, work=self.work) as connection:
            try:
                yield from batches(connection, statements.rows(read, wanted).sql(dialect="duckdb"))
            except duckdb.InvalidInputException as broken:
                # The engine's message mentions its own options; a second pass finds the line and the reason.
                why = fault(self.path, delimiter, len(header))
                if why is None:
                    raise
                raise InputError(f"{self.path} cannot be read: {why}") from broken

    def lines(self, rows: Sequence[int]) -> list[int]:
        """The line on which each of the rows (ascending, from 0) begins, as an editor counts: the header is line 1."""
        delimiter, header = self._header
        wanted = iter(rows)
        found: list[int] = []
        with open_text(self.path) as text:
            reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
            next(reader)
            row, begins, asked = 0, reader.line_num + 1, next(wanted, None)
            for fields in reader:
                if asked is None:
                    break
                # A blank line is a record only in a file with one column.
                if fields or len(header) == 1:
                    if row == asked:
                        found.append(begins)
                        asked = next(wanted, None)
                    row += 1
                begins = reader.line_num + 1
        return found

    def _ends_with_crlf(self) -> bool:
        """True if the header has a name of several lines, and its own line ends with CRLF, as spreadsheets write it."""
        delimiter, header = self._header
        if not any("\n" in name for name in header):
            return False
        with open_text(self.path) as text:
            reader = csv.reader(text, delimiter=delimiter)
            next(reader)
            lines = reader.line_num
            text.seek(0)
            return next(islice(text, lines - 1, None)).endswith("\r\n")

    def _check_gzip(self) -> None:
        """Decompress the whole file once, because the engine does not check checksums."""
        try:
            with gzip.open(self.path) as file:
                while file.read(_PIECE):
                    pass
        except (OSError, EOFError, zlib.error) as broken:
            raise InputError(
                f"{self.path} cannot be read: it is damaged or truncated ({first_line(broken)}); get a new copy"
            ) from None
