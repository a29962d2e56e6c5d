"""Parquet files, one or a folder of them, that DuckDB reads and counts in place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.engines.duckdb import ANY_MEMORY, Workspace, batches, call, connect, first_line, literal, reading
from equivoc.engines.engine import ColumnKind, SqlEngine
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from sqlglot import exp

# Checksums of Parquet pages, which DuckDB does not look at: damaged bytes may still decode, to other values.
#
# Spark and other writers give each page a checksum (CRC-32); DuckDB and pyarrow write none unless they are
# asked to.

_INTEGER = 0x15
"""In a page's header (Thrift, compact): the next field, a 32-bit integer."""


def check_pages(file: Path, column: str) -> None:
    """InputError if a page of the column has a checksum, and its bytes have another one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(str(file), page_checksum_verification=True) as opened:
            if not _has_checksums(file, opened, column):
                return
            for group in range(opened.num_row_groups):
                opened.read_row_group(group, columns=[column])
    except (pa.ArrowException, OSError) as broken:
        if "crc checksum" not in str(broken).lower():
            return  # DuckDB reads it in its own way, and says what is wrong
        raise InputError(
            f"{file} cannot be read: its column {column!r} is damaged (a checksum is wrong); get a new copy"
        ) from None


def _has_checksums(file: Path, opened: pq.ParquetFile, column: str) -> bool:
    """True if the column's first page has one: a file has them for all pages or for none."""
    metadata = opened.metadata
    chunks = [
        metadata.row_group(0).column(at)
        for at in range(metadata.num_columns if metadata.num_row_groups else 0)
        if metadata.row_group(0).column(at).path_in_schema == column
    ]
    if not chunks:
        return False
    with file.open("rb") as data:
        data.seek(_start(chunks[0]))
        return checksum_follows(data.read(64))


def _start(chunk: Any) -> int:
    """Where the first page is: that of the dictionary, if there is one."""
    return int(chunk.dictionary_page_offset or chunk.data_page_offset)


def checksum_follows(header: bytes) -> bool:
    """True if the fourth field of a page's header is the checksum; before it come the page's type and two sizes.

    >>> checksum_follows(bytes([0x15, 0x04, 0x15, 0x80, 0x01, 0x15, 0x02, 0x15, 0x9A, 0x03]))
    True
    >>> checksum_follows(bytes([0x15, 0x04, 0x15, 0x80, 0x01, 0x15, 0x02, 0x2C]))
    False
    """
    at = 0
    for _ in range(3):
        if header[at : at + 1] != bytes([_INTEGER]):
            return False
        at += 1
        while header[at : at + 1] >= b"\x80":  # a varint's last byte is below 128
            at += 1
        at += 1
    return header[at : at + 1] == bytes([_INTEGER])


_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_FLOATING = ("FLOAT", "DOUBLE")
_ENDINGS = (".parquet", ".pq", ".parq")
_HIDDEN = (".", "_")
_MOST_ENTRIES = 100_000


@dataclass(frozen=True)
class ParquetTable(SqlEngine):
    """One table in one or more Parquet files of the same columns; its rows are those of the files one after another."""

    path: Path
    """The file, or the folder."""
    files: tuple[Path, ...]
    partitions: tuple[str, ...] = ()
    """Columns whose values are in the names of folders, such as year=2020."""
    work: Workspace = ANY_MEMORY

    @property
    def label(self) -> str:
        return str(self.path)

    @property
    def ordered(self) -> bool:
        return True

    @property
    def source(self) -> exp.Expression:
        from sqlglot import exp

        files = exp.Array(expressions=[literal(file) for file in self.files])
        return call(
            "read_parquet",
            files,
            # Otherwise a file's own column year would be replaced in a folder named year=2020.
            hive_partitioning=exp.true() if self.partitions else exp.false(),
            union_by_name=exp.true() if len(self.files) > 1 else exp.false(),
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names as the first file has them (DuckDB renames those that differ in case only)."""
        first, *others = self.files
        schema = _schema(first)
        for file in others:
            _check_alike(first, schema, file, _schema(file))
        for name in self.partitions:
            if name in schema.names:
                raise InputError(
                    f"{self.path} cannot be read: {name!r} is a column of {first.name} and also in the names of folders"
                )
        if not schema.names:
            raise InputError(f"{self.path} has no columns")
        return (*schema.names, *self.partitions)

    @cached_property
    def _described(self) -> list[tuple[str, str]]:
        """DuckDB's own name and type of each column, in the file's order."""
        with reading(self.path, self.work), connect(*self.files, work=self.work) as connection:
            relation = connection.sql(f"SELECT * FROM {self.source.sql(dialect='duckdb')}")
            return list(zip(relation.columns, map(str, relation.types), strict=True))

    @cached_property
    def _checked(self) -> set[str]:
        """The columns whose pages have been checked."""
        return set()

    def value(self, name: str) -> exp.Expression:
        """The column; the first time, the checksums of its pages are checked."""
        from equivoc.engines import statements

        if name not in self._checked and name not in self.partitions:
            for file in self.files:
                check_pages(file, name)
            self._checked.add(name)
        return statements.column(self._described[self.names.index(name)][0])

    def kind(self, name: str) -> ColumnKind:
        described = self._described[self.names.index(name)][1]
        return "integer" if described in _INTEGERS else "floating" if described in _FLOATING else "other"

    def stream(self, statement: exp.Expression) -> Iterator[pa.RecordBatch]:
        with reading(self.path, self.work), connect(*self.files, work=self.work) as connection:
            yield from batches(connection, statement.sql(dialect="duckdb"))


def parquet_file(path: Path, work: Workspace = ANY_MEMORY) -> ParquetTable:
    """The table in one file."""
    return ParquetTable(path, (path,), work=work)


def parquet_folder(folder: Path, work: Workspace = ANY_MEMORY) -> ParquetTable:
    """The table in all Parquet files of a folder, in the order of their names; hidden files are ignored.

    If all of them are in folders such as ``year=2020``, these give more columns.
    """
    files = sorted(_parquet_files(folder))
    if not files:
        raise InputError(f"{folder} is a folder without Parquet files: give a file, or a folder of them")
    keys = {tuple(_partition(part, folder) for part in file.relative_to(folder).parts[:-1]) for file in files}
    if len(keys) > 1:
        raise InputError(
            f"{folder} holds Parquet files at different depths: keep all of one table in one folder, or all in folders "
            "such as year=2020"
        )
    return ParquetTable(folder, tuple(files), keys.pop(), work)


def _parquet_files(folder: Path) -> Iterator[Path]:
    """All Parquet files below the folder. What cannot be looked at is an InputError: it could belong to the table."""

    def refuse(problem: OSError) -> None:
        raise InputError(f"{folder} cannot be read: {problem.filename}: {problem.strerror}")

    looked = 0
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN)]
        for name in folders:
            if (Path(place) / name).is_symlink():  # its files would be known by another folder's name
                raise InputError(
                    f"{folder} holds a link to another folder, {name}: give folders without links"
                )
        looked += len(folders) + len(names)
        if looked > _MOST_ENTRIES:
            raise InputError(
                f"{folder} holds more than {_MOST_ENTRIES:,} files and folders: give one that holds only the table"
            )
        for name in names:
            file = Path(place) / name
            if file.suffix.lower() in _ENDINGS and not name.startswith(_HIDDEN) and file.is_file():
                yield file


def _partition(part: str, folder: Path) -> str:
    name, equals, _ = part.partition("=")
    if not equals or not name:
        raise InputError(
            f"{folder} holds Parquet files in the folder {part}: only folders such as year=2020 may be inside"
        )
    return name


def _schema(file: Path) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(str(file.resolve()))
    except (pa.ArrowException, OSError) as broken:
        raise InputError(f"{file} is not a readable Parquet file: {first_line(broken)}") from None


def _check_alike(first: Path, expected: pa.Schema, file: Path, found: pa.Schema) -> None:
    for name in expected.names:
        if name not in found.names:
            raise InputError(
                f"{file} has no column {name!r}, but {first} has: give files of the same columns"
            )
        kinds = expected.field(name).type, found.field(name).type
        if kinds[0] != kinds[1]:
            raise InputError(
                f"column {name!r} holds {kinds[0]} in {first}, but {kinds[1]} in {file}: give files of the same types"
            )
    for name in found.names:
        if name not in expected.names:
            raise InputError(
                f"{file} has a column {name!r}, but {first} has not: give files of the same columns"
            )
