"""DuckDB, embedded: runs statements on a file and returns Arrow.

Nothing is installed or downloaded. Every statement has its own connection, which can open only the files that are
read. Nothing is written to disk, unless the caller names a folder for temporary data (`Workspace`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from equivoc.engines.engine import empty_batch
from equivoc.engines.workspace import Workspace
from equivoc.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from sqlglot import exp

BATCH = 1 << 20
ANY_MEMORY = Workspace()


@contextmanager
def connect(*paths: Path, work: Workspace = ANY_MEMORY) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that can read these files, and write only to the folder of ``work``."""
    import duckdb

    config: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": "",
    }
    with work.folder() as temporary:
        if temporary is not None:
            config["temp_directory"] = str(temporary)
        connection = duckdb.connect(":memory:", config=config)
        try:
            connection.execute("SET enable_progress_bar = false")  # it would appear in a command's output
            if work.memory_limit is not None:
                connection.execute(f"SET memory_limit = '{work.memory_limit} B'")
                connection.execute(f"SET threads = {work.threads}")
            if work.spill_limit is not None:
                connection.execute(f"SET max_temp_directory_size = '{work.spill_limit} B'")
            with suppress(duckdb.CatalogException):  # DuckDB 1.1 has no list of allowed files
                # The escaped path is also opened.
                allowed = [spelled for path in paths for spelled in (_absolute(path), _pattern(path))]
                connection.execute("SET allowed_paths = ?", [allowed])
                connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection
        finally:
            connection.close()


def batches(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.RecordBatch]:
    """A query's answer, piece by piece; an empty piece if it is empty."""
    import duckdb

    if hasattr(duckdb.DuckDBPyRelation, "to_arrow_reader"):
        reader = connection.sql(sql).to_arrow_reader(BATCH)
    else:
        older: Any = connection  # DuckDB 1.x
        reader = older.execute(sql).fetch_record_batch(BATCH)
    empty = True
    for batch in reader:
        empty = False
        yield batch
    if empty:
        yield empty_batch(reader.schema)


@contextmanager
def reading(path: Path | str, work: Workspace = ANY_MEMORY) -> Iterator[None]:
    """Turn the engine's errors about a file into an InputError."""
    import duckdb

    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException) as full:
        if "max_temp_directory_size" in str(full) or (work.spill and "No space left" in str(full)):
            raise InputError(
                f"{path} cannot be counted: the folder for temporary data, {work.spill}, is full; free some "
                "space, name another folder, or raise memory_limit"
            ) from None
        if isinstance(full, duckdb.IOException):
            raise InputError(f"{path} cannot be read: {first_line(full)}") from None
        if work.memory_limit is None:
            raise MemoryError(str(full)) from None
        raise InputError(
            f"{path} cannot be counted within memory_limit, {work.memory_limit / 2**20:,.0f}MiB: {work.advice}"
        ) from None
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
