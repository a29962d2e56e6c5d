"""DuckDB, embedded: runs statements on a file and returns Arrow.

Nothing is installed, downloaded or written to disk. Every statement has its own connection, which can open only
the file that is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from equivoc.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from sqlglot import exp

BATCH = 1 << 20
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file that DuckDB reads in place."""

    path: Path

    @property
    def source(self) -> exp.Expression:
        from sqlglot import exp

        # Otherwise a folder named year=2020 would replace the file's own column year.
        return call("read_parquet", literal(self.path), hive_partitioning=exp.false())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names as the file has them (DuckDB renames those that differ in case only)."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return tuple(pq.read_schema(_absolute(self.path)).names)
        except (pa.ArrowException, OSError) as broken:
            raise InputError(f"{self.path} is not a readable Parquet file: {first_line(broken)}") from None

    @cached_property
    def _described(self) -> list[tuple[str, str]]:
        """DuckDB's own name and type of each column, in the file's order."""
        with reading(self.path), connect(self.path) as connection:
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
        with reading(self.path), connect(self.path) as connection:
            return connection.sql(statement.sql(dialect="duckdb")).to_arrow_table()

    def stream(self, statement: exp.Expression) -> Iterator[pa.RecordBatch]:
        """The statement's answer, piece by piece, in order."""
        with reading(self.path), connect(self.path) as connection:
            yield from batches(connection, statement.sql(dialect="duckdb"))


@contextmanager
def connect(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that can read one file."""
    import duckdb

    config: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": "",
    }
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET enable_progress_bar = false")  # it would appear in a command's output
    with suppress(duckdb.CatalogException):  # DuckDB 1.1 has no list of allowed files
        # The escaped path is also opened.
        connection.execute("SET allowed_paths = ?", [[_absolute(path), _pattern(path)]])
        connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    try:
        yield connection
    finally:
        connection.close()


def batches(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.RecordBatch]:
    """A query's answer, piece by piece."""
    import duckdb

    if hasattr(duckdb.DuckDBPyRelation, "to_arrow_reader"):
        reader = connection.sql(sql).to_arrow_reader(BATCH)
    else:
        older: Any = connection  # DuckDB 1.x
        reader = older.execute(sql).fetch_record_batch(BATCH)
    yield from reader


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn the engine's errors about a file into an InputError."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as full:
        raise MemoryError(str(full)) from None
    except duckdb.Error as broken:
        raise InputError(f"{path} cannot be read: {first_line(broken)}") from None


def first_line(error: BaseException) -> str:
    """The first line of an error message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")


def call(function: str, *arguments: exp.Expression, **named: exp.Expression) -> exp.Expression:
    """A function of the engine, with options by name."""
    from sqlglot import exp

    options = [exp.EQ(this=exp.var(name), expression=value) for name, value in named.items()]
    return cast("exp.Expression", exp.Anonymous(this=function, expressions=[*arguments, *options]))


def literal(path: Path) -> exp.Expression:
    """The path as SQL text."""
    from sqlglot import exp

    return exp.Literal.string(_pattern(path))


def _pattern(path: Path) -> str:
    """The path with glob characters escaped in brackets."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in _absolute(path))


def _absolute(path: Path) -> str:
    """The absolute path: DuckDB interprets ~ and prefixes such as file: in relative ones."""
    return str(path.resolve())
