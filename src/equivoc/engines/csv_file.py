"""A CSV file: its header, its columns as text, and the line of each record."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from equivoc.engines.csv_faults import fault, is_gzip, open_text, undecodable
from equivoc.engines.duckdb import ANY_MEMORY, batches, call, connect, first_line, literal, reading
from equivoc.engines.workspace import Workspace
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

_DELIMITERS = ",;\t|"
_PIECE = 1 << 20


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
            return best
        if broken is not None:
            raise InputError(f"{self.path} cannot be read: a quote in its header is not closed")
        raise InputError(
            f"{self.path} is empty, or its first line is: give a CSV file with a header and records"
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
        import gzip

        try:
            with gzip.open(self.path) as file:
                while file.read(_PIECE):
                    pass
        except (OSError, EOFError, zlib.error) as broken:
            raise InputError(
                f"{self.path} cannot be read: it is damaged or truncated ({first_line(broken)}); get a new copy"
            ) from None
