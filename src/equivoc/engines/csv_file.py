"""A CSV file: its header, its columns as text, and the line of each record."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from equivoc.engines.duckdb import ANY_MEMORY, Workspace, batches, call, connect, literal, reading
from equivoc.engines.text_file import Dialect, open_text, plain_copy, undecodable
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

# Finds why a CSV file cannot be read, and on which line: a second, slower pass after an error.

_ENDINGS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
# The engine rejects longer records.
_LONGEST_RECORD = 2_000_000


def fault(path: Path, dialect: Dialect) -> str | None:
    """What is wrong with the file, and on which line; None if nothing is found."""
    try:
        return _first_fault(path, dialect)
    except UnicodeDecodeError:
        return undecodable(path, dialect).removeprefix(f"{path} ")


def _first_fault(path: Path, dialect: Dialect) -> str | None:
    delimiter, columns = dialect.separator, len(dialect.names)
    with open_text(path, dialect) as text:
        lines = _Lines(text, dialect.skipped)
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
        ending, begins = "", 1 + dialect.skipped
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
            unnamed = dialect.row_names and begins == 1 + dialect.skipped
            if (
                fields
                and len(fields) + unnamed != columns
                and not (len(fields) == columns + 1 and fields[-1] == "")
            ):
                many = f"{len(fields)} field{'s' * (len(fields) != 1)}"
                first = "header" if dialect.header else "first line"
                return f"line {begins} has {many}, but the {first} has {columns}"
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

    def __init__(self, text: IO[str], before: int) -> None:
        self._text = text
        self.count = before
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


@dataclass(frozen=True)
class CsvFile:
    """A CSV file, read as text: types are inferred later from all values, not from a sample. Only empty fields are
    null.
    """

    path: Path
    dialect: Dialect
    work: Workspace = ANY_MEMORY

    @property
    def names(self) -> tuple[str, ...]:
        return self.dialect.names

    @contextmanager
    def readable(self) -> Iterator[Path]:
        """A file that DuckDB can read: this one, or a plain copy for as long as it is read."""
        with plain_copy(self.path, self.dialect, self.work.spill) as path:
            yield path

    def source(self, path: Path) -> exp.Expression:
        """The readable file as a table of DuckDB: texts, in columns named c0, c1, … by their position."""
        from sqlglot import exp

        dialect = self.dialect
        packed = dialect.compression == "gzip" and path == self.path
        quote = exp.Literal.string('"')
        # Without it, the engine finds no records if a quoted name has a line end other than the file's.
        line_end = {"new_line": exp.Literal.string(r"\r\n")} if self._ends_with_crlf() else {}
        # A header without a name for the first column is skipped like the lines before it.
        skipped = dialect.skipped + dialect.row_names
        return call(
            "read_csv",
            literal(path),
            auto_detect=exp.false(),
            compression=exp.Literal.string("gzip" if packed else "none"),
            header=exp.true() if dialect.header and not dialect.row_names else exp.false(),
            **({"skip": exp.Literal.number(skipped)} if skipped else {}),
            delim=exp.Literal.string(dialect.separator),
            quote=quote,
            escape=quote.copy(),
            nullstr=exp.Literal.string(""),
            **line_end,
            hive_partitioning=exp.false(),
            # By position, because names may differ only in case.
            columns=exp.Struct(
                expressions=[
                    exp.PropertyEQ(this=exp.Literal.string(f"c{i}"), expression=exp.Literal.string("VARCHAR"))
                    for i in range(len(dialect.names))
                ]
            ),
        )

    def stream(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns as text, piece by piece, in order."""
        import duckdb

        from equivoc.engines import statements

        wanted = {name: statements.column(f"c{self.names.index(name)}") for name in names}
        with (
            self.readable() as path,
            reading(self.path, self.work),
            connect(path, work=self.work) as connection,
        ):
            try:
                yield from batches(
                    connection, statements.rows(self.source(path), wanted).sql(dialect="duckdb")
                )
            except duckdb.InvalidInputException as broken:
                # The engine's message mentions its own options; a second pass finds the line and the reason.
                why = fault(self.path, self.dialect)
                if why is None:
                    raise
                raise InputError(f"{self.path} cannot be read: {why}") from broken

    def lines(self, rows: Sequence[int]) -> list[int]:
        """The line on which each of the rows (ascending, from 0) begins, as an editor counts: the header is line 1."""
        wanted = iter(rows)
        found: list[int] = []
        before = self.dialect.skipped
        with open_text(self.path, self.dialect) as text:
            reader = csv.reader(text, delimiter=self.dialect.separator, skipinitialspace=True)
            if self.dialect.header:
                next(reader)
            row, begins, asked = 0, reader.line_num + 1, next(wanted, None)
            for fields in reader:
                if asked is None:
                    break
                # A blank line is a record only in a file with one column.
                if fields or len(self.names) == 1:
                    if row == asked:
                        found.append(begins + before)
                        asked = next(wanted, None)
                    row += 1
                begins = reader.line_num + 1
        return found

    def _ends_with_crlf(self) -> bool:
        """True if the header has a name of several lines, and its own line ends with CRLF, as spreadsheets write it."""
        if not any("\n" in name for name in self.names):
            return False
        with open_text(self.path, self.dialect) as text:
            reader = csv.reader(text, delimiter=self.dialect.separator)
            next(reader)
            lines = reader.line_num
        with open_text(self.path, self.dialect) as text:
            return next(islice(text, lines - 1, None)).endswith("\r\n")
