"""The records of a Microdata: codes in memory, or a Parquet file that is counted in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equivoc.data.counting.cells import Cells, Layout, pack_cells
from equivoc.data.reading.columns import Codes, Column, Encoder, plain, positions, smallest
from equivoc.data.reading.tables import CsvTable, ParquetTable, Table
from equivoc.data.reading.text_columns import typed
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from equivoc.engines.csv_file import CsvFile
    from equivoc.engines.duckdb import ParquetFile

# Integers with a wider range than this are coded by the values that occur, not by their distance from the minimum.
_WIDEST_SPAN = 2**16
# Sample size for deciding whether grouping in the engine makes the table smaller.
_PROBE = 1 << 17


class Records(Protocol):
    """Levels and codes of the role columns; records keep the order of the source's rows."""

    def __len__(self) -> int: ...

    @property
    def dropped(self) -> int:
        """Rows dropped because a confidential value was missing."""

    @property
    def file(self) -> CsvFile | ParquetFile | None:
        """The file that they come from; None for a frame."""

    def source_rows(self, records: Sequence[int]) -> list[int]:
        """The source's row numbers of these records, from 0: they differ if rows were dropped."""

    def levels(self, name: str) -> pa.Array: ...

    def codes(self, name: str) -> Codes: ...

    def raw(self, name: str) -> pa.ChunkedArray:
        """A column without encoding, one entry per record."""

    @property
    def key_order(self) -> tuple[str, ...]:
        """The keys, those with most levels first: the order in which they are counted."""

    def cells(self) -> Cells | None:
        """Cells of keys × the confidential column's levels, if the engine has counted them; else None."""


def open_records(
    table: Table, *, keys: Sequence[str], confidential: Sequence[str], raw: Sequence[str], drop_missing: bool
) -> Records:
    """The records of a table; the columns in ``raw`` (survey weights) are not encoded."""
    if isinstance(table, ParquetTable) and len(confidential) == 1:
        counted = _count_parquet(
            table.file, keys=keys, confidential=confidential[0], drop_missing=drop_missing
        )
        if counted is not None:
            return counted
    return _hold(table, keys=keys, confidential=confidential, raw=raw, drop_missing=drop_missing)


@dataclass(frozen=True, eq=False)
class HeldRecords:
    """Every record's codes in memory: frames, relations and CSV files."""

    columns: Mapping[str, Column]
    """The keys and the confidential columns."""
    keys: Sequence[str]
    raws: Mapping[str, pa.ChunkedArray]
    left_out: NDArray[np.int64]
    """The rows without a confidential value."""
    file: CsvFile | ParquetFile | None

    @property
    def dropped(self) -> int:
        return self.left_out.size

    def source_rows(self, records: Sequence[int]) -> list[int]:
        return _rows_behind(records, self.left_out)

    @property
    def key_order(self) -> tuple[str, ...]:
        return tuple(sorted(self.keys, key=lambda name: -len(self.columns[name].levels)))

    def __len__(self) -> int:
        return next(iter(self.columns.values())).codes.size

    def levels(self, name: str) -> pa.Array:
        return self.columns[name].levels

    def codes(self, name: str) -> Codes:
        return self.columns[name].codes

    def raw(self, name: str) -> pa.ChunkedArray:
        return self.raws[name]

    def cells(self) -> None:
        return None


def held_columns(
    table: Table, names: Sequence[str], *, raw: Sequence[str] = ()
) -> tuple[dict[str, Column], dict[str, pa.ChunkedArray]]:
    """The named columns as levels and codes, a CSV file's as text, and those in ``raw`` unencoded; read once."""
    import pyarrow as pa

    encoders = {name: Encoder(name) for name in names}
    collected: dict[str, list[pa.Array]] = {name: [] for name in raw}
    for batch in table.batches(list(dict.fromkeys([*names, *raw]))):
        for name, encoder in encoders.items():
            encoder.add(batch.column(name))
        for name, pieces in collected.items():
            pieces.append(batch.column(name))
    columns = {name: encoder.column(order=table.order(name)) for name, encoder in encoders.items()}
    if isinstance(table, CsvTable):
        _refuse_zero_bytes(table.file, columns)
    raws = {
        name: pa.chunked_array(pieces) if pieces else pa.chunked_array([], pa.null())
        for name, pieces in collected.items()
    }
    return columns, raws


def _refuse_zero_bytes(file: CsvFile, columns: Mapping[str, Column]) -> None:
    import pyarrow.compute as pc

    for name, column in columns.items():
        if len(column.levels) == column.levels.null_count:
            continue
        zero = pc.fill_null(pc.match_substring(column.levels, "\0"), False).to_numpy(zero_copy_only=False)
        if zero.any():
            line = file.lines([int(np.argmax(zero[column.codes]))])
            raise InputError(
                f"{file.path} cannot be read: column {name!r} holds a NUL byte on line {line[0]}, so it is not text"
            )


def _hold(
    table: Table, *, keys: Sequence[str], confidential: Sequence[str], raw: Sequence[str], drop_missing: bool
) -> HeldRecords:
    import pyarrow as pa

    columns, raws = held_columns(table, [*keys, *confidential], raw=raw)
    if isinstance(table, CsvTable):
        columns = {name: typed(c) if name in keys else c for name, c in columns.items()}
    file = table.file if isinstance(table, (CsvTable, ParquetTable)) else None
    kept = np.ones(len(next(iter(columns.values())).codes), np.bool_)
    for name in confidential:
        if drop_missing and columns[name].levels.null_count:
            kept &= columns[name].codes != len(columns[name].levels) - 1
    if kept.all():
        return HeldRecords(columns, keys, raws, np.empty(0, np.int64), file)
    return HeldRecords(
        {name: column.kept(kept) for name, column in columns.items()},
        keys,
        {name: column.filter(pa.array(kept)) for name, column in raws.items()},
        np.flatnonzero(~kept),
        file,
    )


def _rows_behind(records: Sequence[int], left_out: NDArray[np.int64]) -> list[int]:
    """The source rows of records if the rows in ``left_out`` (ascending) were dropped.

    >>> _rows_behind([0, 1, 2], np.array([0, 1, 3]))
    [2, 4, 5]
    """
    before = np.searchsorted(left_out - np.arange(left_out.size), records, side="right")
    return [int(row) for row in np.asarray(records) + before]


class Coding(Protocol):
    """How one column of a file becomes integers."""

    @property
    def size(self) -> int:
        """Codes lie in 0 … size − 1."""

    def expression(self) -> exp.Expression:
        """The expression for the engine to compute."""

    def codes(self, answer: pa.Array) -> NDArray[Any]: ...

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        """The values of the codes that occur, null last."""


@dataclass(frozen=True)
class OffsetCoding:
    """An integer column coded as the distance from its minimum, computed by the engine; null comes last."""

    name: str
    low: int
    span: int
    kind: Any
    """The column's Arrow type."""

    @property
    def size(self) -> int:
        return self.span + 1

    def expression(self) -> exp.Expression:
        from equivoc.engines import statements

        return statements.offset(self.name, low=self.low, span=self.span)

    def codes(self, answer: pa.Array) -> NDArray[Any]:
        codes: NDArray[Any] = answer.to_numpy(zero_copy_only=False)
        return codes

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        import pyarrow as pa

        offsets = np.flatnonzero(occurring)
        return pa.array(offsets + self.low, mask=offsets == self.span).cast(self.kind)


@dataclass(frozen=True, eq=False)
class LevelCoding:
    """Any other column, coded by the position among its levels, which the engine lists first."""

    name: str
    levels: pa.Array

    @property
    def size(self) -> int:
        return len(self.levels)

    def expression(self) -> exp.Expression:
        from equivoc.engines import statements

        return statements.column(self.name)

    def codes(self, answer: pa.Array) -> NDArray[Any]:
        return positions(plain(answer, name=self.name), self.levels)

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        import pyarrow as pa

        return self.levels.filter(pa.array(occurring))


@dataclass(frozen=True, eq=False)
class CountedRecords:
    """Records in a Parquet file: counted by the engine, and read only when their codes are needed."""

    file: ParquetFile
    key_order: tuple[str, ...]
    codings: Mapping[str, Coding]
    occurring: Mapping[str, NDArray[np.bool_]]
    finest: Cells
    size: int
    dropped: int
    present: Sequence[exp.Expression]
    """Columns that must not be null."""

    def __len__(self) -> int:
        return self.size

    def source_rows(self, records: Sequence[int]) -> list[int]:
        from equivoc.engines import statements

        if not self.dropped:
            return list(records)
        statement = statements.rows(self.file.source, {"c": self.present[0]})
        nulls = [batch.column(0).is_null() for batch in self.file.stream(statement)]
        return _rows_behind(records, np.flatnonzero(np.concatenate(nulls)))

    def levels(self, name: str) -> pa.Array:
        return self.codings[name].values(self.occurring[name])

    def codes(self, name: str) -> Codes:
        coding, occurring = self.codings[name], self.occurring[name]
        table = smallest(np.maximum(np.cumsum(occurring) - 1, 0), int(occurring.sum()))
        codes = np.empty(self.size, table.dtype)
        at = 0
        for piece in self._stream(coding.expression()):
            found = coding.codes(piece)
            if at + found.size > self.size or not np.all((found >= 0) & (found < coding.size)):
                break
            codes[at : at + found.size] = table[found]
            at += found.size
        else:
            if at == self.size:
                return codes
        raise InputError(f"{self.file.path} has changed since it was read: read it again")

    def raw(self, name: str) -> pa.ChunkedArray:
        import pyarrow as pa

        from equivoc.engines import statements

        return pa.chunked_array(list(self._stream(statements.column(self.file.column(name)))))

    def _stream(self, expression: exp.Expression) -> Iterator[pa.Array]:
        from equivoc.engines import statements

        statement = statements.rows(self.file.source, {"c": expression}, present=self.present)
        return (batch.column(0) for batch in self.file.stream(statement))

    def cells(self) -> Cells:
        return self.finest


def _count_parquet(
    file: ParquetFile, *, keys: Sequence[str], confidential: str, drop_missing: bool
) -> CountedRecords | None:
    """Count the file's cells without reading its rows; None if a cell needs more bits than a word has."""
    from equivoc.engines import statements

    names = [*keys, confidential]
    engine_names = {name: file.column(name) for name in names}
    whole = [name for name in names if file.is_integer(name)]
    extent = file.table(statements.extent(file.source, [engine_names[name] for name in whole]))
    rows, *bounds = (column[0].as_py() for column in extent.columns)
    codings: dict[str, Coding] = {}
    for name, low, high, filled in zip(whole, bounds[0::3], bounds[1::3], bounds[2::3], strict=True):
        if filled and high - low < _WIDEST_SPAN:
            codings[name] = OffsetCoding(
                engine_names[name], low, high - low + 1, extent.schema.field(1 + 3 * whole.index(name)).type
            )
    for name in names:
        if name not in codings:
            listed = (
                file.table(statements.distinct(file.source, engine_names[name])).column(0).combine_chunks()
            )
            found = Encoder(name)
            found.add(listed)
            codings[name] = LevelCoding(engine_names[name], found.column().levels)
    order = tuple(sorted(keys, key=lambda name: -codings[name].size))
    layout = Layout(tuple(codings[name].size for name in order), codings[confidential].size, rows)
    if not layout.fits:
        return None
    ordered = {name: codings[name] for name in (*order, confidential)}
    present: list[exp.Expression] = []
    if drop_missing:
        floating = file.is_floating(confidential)
        present = [statements.number(engine_names[confidential], floating=floating)]
    finest = pack_cells(layout, _pieces(file, ordered, present))
    occurring = {name: finest.occurring(at) for at, name in enumerate(order)}
    occurring[confidential] = finest.occurring(None)
    finest = _dense(finest, list(occurring.values()))
    size = finest.total
    return CountedRecords(file, order, ordered, occurring, finest, size, rows - size, present)


def _dense(finest: Cells, occurring: Sequence[NDArray[np.bool_]]) -> Cells:
    """The cells under codes without gaps."""
    if all(seen.all() for seen in occurring):
        return finest
    tables = [np.maximum(np.cumsum(seen) - 1, 0) for seen in occurring]
    sizes = [int(seen.sum()) for seen in occurring]
    return finest.recode(tables[:-1], tables[-1], radices=sizes[:-1], span=sizes[-1])


def _pieces(
    file: ParquetFile, codings: Mapping[str, Coding], present: Sequence[exp.Expression]
) -> Iterator[tuple[list[NDArray[Any]], NDArray[Any], NDArray[np.int64] | None]]:
    """Coded keys, values and counts: grouped by the engine if few rows differ, row by row if most do.

    A group costs the engine far more than a row, so grouping pays only if it makes the table much smaller.
    """
    from equivoc.engines import statements

    names = [f"c{at}" for at in range(len(codings))]
    expressions = dict(zip(names, (coding.expression() for coding in codings.values()), strict=True))
    coded = statements.rows(file.source, expressions, present=present)
    probed = file.table(statements.count(coded.limit(_PROBE), names)).num_rows
    counting = probed < _PROBE // 8
    for batch in file.stream(statements.count(coded, names) if counting else coded):
        *keys, values = (coding.codes(batch.column(at)) for at, coding in enumerate(codings.values()))
        yield keys, values, batch.column(len(names)).to_numpy() if counting else None
