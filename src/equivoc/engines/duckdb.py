"""DuckDB, embedded: runs the statements over files and hands back Arrow.

Nothing is installed, downloaded or spilled to disk, and every statement has a connection of its own.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from equivoc.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from sqlglot import exp

BATCH = 1 << 20
_DELIMITERS = ",;\t|"
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file that DuckDB reads in place."""

    path: Path

    @property
    def source(self) -> exp.Expression:
        return _call("read_parquet", _literal(self.path))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names as the file has them (DuckDB renames those that differ in case only)."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return tuple(pq.read_schema(self.path).names)
        except (pa.ArrowException, OSError) as broken:
            raise InputError(f"{self.path} is not a readable Parquet file: {_first_line(broken)}") from None

    @cached_property
    def _described(self) -> list[tuple[str, str]]:
        """DuckDB's own name and type of each column, in the file's order."""
        with _reading(self.path), _connection() as connection:
            relation = connection.sql(f"SELECT * FROM {self.source.sql(dialect='duckdb')}")
            return list(zip(relation.columns, map(str, relation.types), strict=True))

    def column(self, name: str) -> str:
        """The name by which DuckDB knows the column."""
        return self._described[self.names.index(name)][0]

    def is_integer(self, name: str) -> bool:
        return self._described[self.names.index(name)][1] in _INTEGERS

    def is_floating(self, name: str) -> bool:
        return self._described[self.names.index(name)][1] in ("FLOAT", "DOUBLE")

    def table(self, statement: exp.Expression) -> pa.Table:
        """The statement's whole answer."""
        with _reading(self.path), _connection() as connection:
            return connection.sql(statement.sql(dialect="duckdb")).to_arrow_table()

    def stream(self, statement: exp.Expression) -> Iterator[pa.RecordBatch]:
        """The statement's answer, piece by piece, in order."""
        with _reading(self.path), _connection() as connection:
            yield from _batches(connection, statement.sql(dialect="duckdb"))


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with a header, read as text: what its columns hold is for all their values to say, not a
    sample.

    The delimiter is whichever of comma, semicolon, tab and bar splits the header most. Only empty fields are
    null.
    """

    path: Path

    @cached_property
    def _header(self) -> tuple[str, list[str]]:
        try:
            best: tuple[str, list[str]] = (",", [])
            with _open_text(self.path) as text:
                for delimiter in _DELIMITERS:
                    text.seek(0)
                    names = next(csv.reader(text, delimiter=delimiter), [])
                    if len(names) > len(best[1]):
                        best = (delimiter, names)
        except UnicodeDecodeError:
            raise InputError(f"{self.path} is not UTF-8 text: save it as UTF-8 and read it again") from None
        except (OSError, EOFError, csv.Error) as broken:
            raise InputError(f"{self.path} cannot be read: {_first_line(broken)}") from None
        if not best[1]:
            raise InputError(f"{self.path} is empty: give a CSV file with a header and records")
        return best

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._header[1])

    def stream(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns as text, piece by piece, in order."""
        from sqlglot import exp

        from equivoc.engines import statements

        delimiter, header = self._header
        quote = exp.Literal.string('"')
        read = _call(
            "read_csv",
            _literal(self.path),
            auto_detect=exp.false(),
            header=exp.true(),
            delim=exp.Literal.string(delimiter),
            quote=quote,
            escape=quote.copy(),
            nullstr=exp.Literal.string(""),
            # By position, so that no name clashes with another that differs in case only.
            columns=exp.Struct(
                expressions=[
                    exp.PropertyEQ(this=exp.Literal.string(f"c{i}"), expression=exp.Literal.string("VARCHAR"))
                    for i in range(len(header))
                ]
            ),
        )
        wanted = {name: statements.column(f"c{header.index(name)}") for name in names}
        with _reading(self.path), _connection() as connection:
            yield from _batches(connection, statements.rows(read, wanted).sql(dialect="duckdb"))


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb

    config: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": "",
    }
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET enable_progress_bar = false")  # it would be drawn into a command's output
    try:
        yield connection
    finally:
        connection.close()


def _batches(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.RecordBatch]:
    import duckdb

    if hasattr(duckdb.DuckDBPyRelation, "to_arrow_reader"):
        reader = connection.sql(sql).to_arrow_reader(BATCH)
    else:
        older: Any = connection  # DuckDB 1.x
        reader = older.execute(sql).fetch_record_batch(BATCH)
    yield from reader


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever the engine finds wrong with a file, in one sentence."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as full:
        raise MemoryError(str(full)) from None
    except duckdb.Error as broken:
        raise InputError(f"{path} cannot be read: {_first_line(broken)}") from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")


def _call(function: str, *arguments: exp.Expression, **named: exp.Expression) -> exp.Expression:
    from sqlglot import exp

    options = [exp.EQ(this=exp.var(name), expression=value) for name, value in named.items()]
    return cast("exp.Expression", exp.Anonymous(this=function, expressions=[*arguments, *options]))


def _literal(path: Path) -> exp.Expression:
    """The path as SQL text; DuckDB would take bare brackets, stars and question marks for a pattern."""
    from sqlglot import exp

    text = "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
    return exp.Literal.string(text)


def _open_text(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
