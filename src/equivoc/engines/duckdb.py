"""DuckDB, embedded: runs statements on a file and returns Arrow.

Nothing is installed or downloaded. Every statement has its own connection, which can open only the files that are
read. Nothing is written to disk, unless the caller names a folder for temporary data (`Workspace`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from equivoc.checks import size_in_bytes
from equivoc.engines.engine import empty_batch
from equivoc.errors import InputError
from equivoc.files import is_folder
from equivoc.temporary_files import temporary_folder

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from sqlglot import exp

# How much memory DuckDB may use, and the folder for what does not fit into it.

LEAST_MEMORY = 128 * 2**20
"""With less memory than this for each thread, DuckDB may not be able to read a file."""


@dataclass(frozen=True)
class Workspace:
    """A limit on DuckDB's memory, and a folder in which it may put what does not fit.

    The limit is on what the engine uses to read and count; the counts themselves, 8 bytes for each cell, and
    everything that is computed from them come on top.
    """

    memory_limit: int | None = None
    """In bytes; None: four fifths of the machine's memory, which is DuckDB's own limit."""
    spill: Path | None = None
    """An existing folder; None: nothing is written to disk, and what does not fit is an error."""
    spill_limit: int | None = None
    """The most bytes that may be written there; None: nine tenths of the free space."""

    def __post_init__(self) -> None:
        if self.memory_limit is not None and self.memory_limit < LEAST_MEMORY:
            raise InputError(
                f"memory_limit is {self.memory_limit:,} bytes; give at least {LEAST_MEMORY / 2**20:g}MiB."
            )
        if self.spill is not None:
            if not is_folder(self.spill):
                raise InputError(f"spill: {self.spill} is not a folder; create it, or name another one.")
            try:
                str(self.spill).encode()
            except UnicodeEncodeError:
                raise InputError(
                    f"spill: the name of the folder {self.spill} is not UTF-8 text; name another one."
                ) from None

    @contextmanager
    def folder(self) -> Iterator[Path | None]:
        """A new folder inside ``spill`` that only its owner can enter, removed afterwards; None without ``spill``."""
        if self.spill is None:
            yield None
            return
        with ExitStack() as folders:
            try:
                made = folders.enter_context(temporary_folder(self.spill.resolve()))
            except OSError as refused:
                raise InputError(f"spill: {self.spill} cannot be written: {refused.strerror}.") from None
            yield made

    @property
    def threads(self) -> int | None:
        """How many threads fit into the limit; None: as many as there are cores."""
        cores = os.cpu_count() or 1
        return None if self.memory_limit is None else max(1, min(cores, self.memory_limit // LEAST_MEMORY))

    @property
    def advice(self) -> str:
        """What to do if the memory is too small."""
        if self.spill is None:
            return "raise memory_limit, or name a folder for temporary data with spill"
        return "raise memory_limit"


def workspace(memory_limit: object, spill: object) -> Workspace:
    """The limit and the folder as a caller gives them: 2147483648 or "2GiB", and a path."""
    if spill is not None and not isinstance(spill, (str, os.PathLike)):
        raise InputError(f"spill is {spill!r}; give the path of a folder.")
    return Workspace(
        None if memory_limit is None else size_in_bytes("memory_limit", memory_limit),
        None if spill is None else Path(spill),
    )


# Ctrl-C while DuckDB runs a query.


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for the RuntimeError, or error of its own, that DuckDB makes of Ctrl-C."""
    import duckdb

    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


BATCH = 1 << 20
"""The most rows of a piece."""
CELLS = 1 << 24
"""The most cells of a piece: one of a table with many columns has fewer rows, so that it fits into memory."""
ANY_MEMORY = Workspace()
_ALONE: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
}


@contextmanager
def connect(*paths: Path, work: Workspace = ANY_MEMORY) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that can read these files, and write only to the folder of ``work``."""
    import duckdb

    config = dict(_ALONE)
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
        relation = connection.sql(sql)
        reader = relation.to_arrow_reader(max(1 << 14, min(BATCH, CELLS // max(len(relation.columns), 1))))
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
        with interruptible():
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


def start() -> None:
    """Load DuckDB and let it reserve what it needs."""
    import duckdb

    duckdb.connect(":memory:").close()


@dataclass(frozen=True, eq=False)
class Scratch:
    """A database in memory, with tables that are filled once and then asked."""

    _connection: duckdb.DuckDBPyConnection = field(repr=False)

    def fill(self, table: str, query: str, *, on_damage: Callable[[], None]) -> None:
        """Make a table of a query's rows. ``on_damage`` is called where a file cannot be understood, and may raise an
        error in better words than the engine's."""
        import duckdb

        try:
            self._connection.execute(f"CREATE TABLE {table} AS {query}")
        except duckdb.InvalidInputException:
            on_damage()
            raise

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of an answer; ``values`` stand for the question marks."""
        found: list[tuple[Any, ...]] = self._connection.execute(query, list(values)).fetchall()
        return found

    def columns(self, query: str) -> dict[str, Any]:
        """An answer as NumPy arrays, by column; from any number of threads."""
        with self._connection.cursor() as cursor, interruptible():
            found: dict[str, Any] = cursor.execute(query).fetchnumpy()
        return found


@contextmanager
def scratch_beside(path: Path) -> Iterator[Scratch]:
    """A scratch database that can read this file; errors are about the file."""
    with reading(path), connect(path) as connection:
        yield Scratch(connection)


def scratch_of(name: str, table: pa.Table) -> Scratch:
    """A scratch database with this table and no way out: it opens no file and cannot be reconfigured."""
    import duckdb

    connection = duckdb.connect(":memory:", config=dict(_ALONE))
    connection.execute("SET enable_progress_bar = false")
    connection.register("given", table)
    with interruptible():
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    connection.unregister("given")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return Scratch(connection)


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
