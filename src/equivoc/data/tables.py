"""Adapters for the caller's table: column names, columns as Arrow, and conversion back to its kind of frame."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from equivoc.data.as_read import TextFacts
from equivoc.engines import postgresql
from equivoc.engines.csv_file import CsvFile
from equivoc.engines.duckdb import ANY_MEMORY, Workspace, reading
from equivoc.engines.engine import Engine
from equivoc.engines.parquet import parquet_file, parquet_folder
from equivoc.engines.spark import SparkTable
from equivoc.errors import InputError
from equivoc.files import check_readable
from equivoc.reading.dialect import guess_dialect
from equivoc.reading.fixed_width import fixed_width_file
from equivoc.reading.formats.kinds import NAMES, FormatTable, shown
from equivoc.reading.formats.opening import open_format
from equivoc.reading.reading import GUESS, ReadAs, Reading

if TYPE_CHECKING:
    import pyarrow as pa

# Converts pandas columns of any type to Arrow: periods and intervals as text, in their own order.


def as_arrow(column: Any, *, name: str) -> pa.Array | pa.ChunkedArray:
    """The column's values.

    >>> import pandas as pd
    >>> as_arrow(pd.Series(pd.cut([3, 12], [0, 5, 20])), name="age").to_pylist()
    ['(0, 5]', '(5, 20]']
    """
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    if isinstance(column.dtype, pd.CategoricalDtype) and _has_own_text(column.cat.categories.dtype):
        column = column.astype(column.cat.categories.dtype)
    if _has_own_text(column.dtype):
        return _as_text(column, name)
    try:
        return pa.array(column, from_pandas=True)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        # A column of objects of several types, or of integers too long for Arrow, is converted to text.
        return _as_text(column, name)


def own_order(column: Any, *, name: str) -> pa.Array | None:
    """The values in the column's own order, as `as_arrow` writes them: ordered categories, periods, intervals."""
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        if kind.ordered:
            return as_arrow(pd.Series(kind.categories), name=name)
        kind, column = kind.categories.dtype, pd.Series(kind.categories)
    if not _has_own_text(kind):
        return None
    return as_arrow(pd.Series(column.dropna().unique()).sort_values(), name=name)


def with_own_categories(column: Any, kind: Any) -> Any:
    """The inverse of `as_arrow` for categories that are periods or intervals: text back to these categories."""
    import pandas as pd

    if not (isinstance(kind, pd.CategoricalDtype) and _has_own_text(kind.categories.dtype)):
        return column
    values = column.astype(object).map({str(category): category for category in kind.categories})
    return column.astype(object) if (values.isna() & column.notna()).any() else values.astype(kind)


def _has_own_text(kind: Any) -> bool:
    """True for types without an Arrow equivalent whose values can be written as text."""
    import pandas as pd

    return isinstance(kind, (pd.PeriodDtype, pd.IntervalDtype))


def _as_text(column: Any, name: str) -> pa.Array:
    import pyarrow as pa

    try:
        text = column.astype(object).map(str, na_action="ignore")
        arrow = pa.array(text, pa.large_string(), from_pandas=True)
    except Exception as refused:  # a user-defined __str__ may raise anything
        raise InputError(
            f"column {name!r} holds values that cannot be read as text ({type(refused).__name__}): "
            "give text, numbers or dates"
        ) from None
    is_text = column.map(lambda value: isinstance(value, str)).to_numpy(dtype=bool)
    both = set(text[is_text].dropna()) & set(text[~is_text].dropna())
    if both:
        raise InputError(
            f"column {name!r} holds {min(both)!r} both as text and as something else: convert the column to one type"
        )
    return arrow


FromArrow = Callable[["pa.Table"], Any]

_PARQUET = (".parquet", ".pq", ".parq")
_RELATION = "the DuckDB relation"
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".gz", ".zst", ".zip", "")
_OF_TEXT = ("separator", "decimal", "thousands", "encoding", "header", "dates", "layout")
_OF_FORMATS = ("labels", "sheet")
_OF_OTHERS = ("separator", "header", "dates", "layout")


class Table(Protocol):
    """A table of one kind."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns, piece by piece, in row order."""

    def order(self, name: str) -> pa.Array | None:
        """The order of values given by the column's type (ordered categories), or None."""

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        """From Arrow to the caller's kind of frame; the named columns get the types they came with."""


def open_table(source: object, work: Workspace = ANY_MEMORY, given: Reading = GUESS) -> Table:
    """The table behind a path, an address of PostgreSQL, a pandas, polars or pyarrow table, or a DuckDB relation.

    ``work`` limits the memory in which a file is read; ``given`` says how it is read, the rest is guessed.
    """
    if isinstance(source, (str, os.PathLike)) and not postgresql.is_address(source):
        return _open_path(Path(source), work, given)
    _refuse(
        given, ("format", *_OF_TEXT, *_OF_FORMATS), "is for files: leave it out for a frame or a database"
    )
    if work != ANY_MEMORY:
        raise InputError("memory_limit and spill are for files: leave them out for a frame or a database")
    if postgresql.is_address(source):
        _refuse(given, ("missing",), "is for files and frames: leave it out for a database")
        return EngineTable(postgresql.PostgresqlTable(postgresql.parse_address(str(source))))
    if isinstance(source, SparkTable):
        _refuse(given, ("missing",), "is for files and frames: leave it out for Spark")
        return EngineTable(source)
    for module, class_name, wrap in (
        ("pandas", "DataFrame", PandasTable),
        ("polars", "DataFrame", PolarsTable),
        ("pyarrow", "Table", ArrowTable),
        ("duckdb", "DuckDBPyRelation", RelationTable),
        ("pyspark.sql", "DataFrame", _open_spark),
    ):
        loaded = sys.modules.get(module)
        # Only packages that are already imported can have made the frame.
        if loaded is not None and isinstance(source, getattr(loaded, class_name)):
            return wrap(source)
    raise InputError(
        f"cannot read people from a {type(source).__name__}: give a path (CSV, Parquet, a folder of Parquet files, "
        "Arrow, Excel, SPSS, Stata, SAS, R), a pandas, polars or pyarrow table, a DuckDB relation or a Spark DataFrame"
    )


def _refuse(given: Reading, names: Sequence[str], why: str) -> None:
    for name in names:
        if getattr(given, name) is not None:
            raise InputError(f"{name} {why}")


def _open_spark(frame: Any) -> EngineTable:
    return EngineTable(SparkTable(frame))


def _open_path(path: Path, work: Workspace, given: Reading) -> CsvTable | EngineTable | OtherTable:
    if os.path.isdir(path):  # noqa: PTH112  (False for names that are too long, where Path raises)
        _refuse(
            given, ("format", *_OF_TEXT, *_OF_FORMATS), "is not for a folder of Parquet files: leave it out"
        )
        return EngineTable(parquet_folder(path, work))
    check_readable(path)
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as refused:
        raise InputError(f"{path} cannot be read: {refused.strerror}") from None
    if not start:
        raise InputError(f"{path} is empty: give a file with a header and records")
    suffix = path.suffix.lower()
    if given.format == "parquet" or (given.format is None and (suffix in _PARQUET or start == b"PAR1")):
        _refuse(given, (*_OF_TEXT, *_OF_FORMATS), "is not for a Parquet file: leave it out")
        return EngineTable(parquet_file(path, work))
    if given.layout is not None or given.format == "fixed":
        if given.layout is None:
            raise InputError(
                f"{path} is read as a fixed-width file: name the file that describes its columns, layout=…"
            )
        _refuse(given, ("separator", "header", *_OF_FORMATS), "is not for a fixed-width file: leave it out")
        return OtherTable(fixed_width_file(path, given.layout, given.encoding))
    if given.format != "csv":
        other = open_format(
            path, format=given.format, sheet=given.sheet, encoding=given.encoding, labels=given.labels
        )
        if other is not None:
            table = OtherTable(other)
            unfit = _OF_OTHERS if table.is_written else (*_OF_OTHERS, "decimal", "thousands")
            _refuse(
                given, unfit, f"is for text files, and {path.name} is {NAMES[other.format]}: leave it out"
            )
            return table
    if given.format == "csv" or (given.format is None and suffix in _TEXT):
        _refuse(given, _OF_FORMATS, "is not for a text file: leave it out")
        return CsvTable(CsvFile(path, guess_dialect(path, given), work))
    raise InputError(
        f"cannot read {suffix} files such as {path}: give CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS or R"
    )


def reading_of(table: Table, given: Reading, facts: TextFacts, records: int) -> ReadAs:
    """How the table was read: what the caller gave, and what was guessed."""
    named = tuple(given.options)
    if isinstance(table, CsvTable):
        dialect = table.file.dialect
        return ReadAs(
            "csv",
            separator=dialect.separator,
            decimal=facts.decimal,
            thousands=facts.thousands,
            encoding=dialect.encoding,
            header=dialect.header,
            missing=facts.missing,
            dates=given.dates,
            compression=dialect.compression,
            given=named,
            asked=given,
            records=records,
        )
    kind = "frame"
    if isinstance(table, OtherTable):
        codes = {
            name: {shown(code): many for code, many in each.items()}
            for name, each in table.file.missing.items()
        }
        words = {
            name: {**codes.get(name, {}), **facts.missing.get(name, {})}
            for name in {**codes, **facts.missing}
        }
        return ReadAs(
            table.file.format,
            decimal=facts.decimal if table.is_written and "," in (facts.decimal, given.decimal) else None,
            thousands=facts.thousands if table.is_written else None,
            missing=words,
            labels=(given.labels or "labels") if table.file.value_labels else None,
            sheet=table.file.part,
            encoding=getattr(getattr(table.file, "dialect", None), "encoding", None),
            dates=given.dates,
            layout=given.layout,
            given=named,
            asked=given,
            records=records,
        )
    if isinstance(table, EngineTable):
        kind = "parquet" if table.engine.ordered else "database"
    return ReadAs(kind, missing=facts.missing, given=named, asked=given, records=records)


@dataclass(frozen=True, eq=False)
class EngineTable:
    """A table that an engine reads and counts where it lies: a Parquet file, a database."""

    engine: Engine

    @property
    def names(self) -> tuple[str, ...]:
        return self.engine.names

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self.engine.rows({name: self.engine.value(name) for name in names})

    def order(self, name: str) -> None:
        return None

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        return partial(_to_pandas, dtypes={})


@dataclass(frozen=True, eq=False)
class CsvTable:
    file: CsvFile

    @property
    def names(self) -> tuple[str, ...]:
        return self.file.names

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self.file.stream(names)

    def order(self, name: str) -> None:
        return None

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        return partial(_to_pandas, dtypes={})


@dataclass(frozen=True, eq=False)
class OtherTable:
    """A file of another program: a statistics package, a spreadsheet, Arrow or R."""

    file: FormatTable

    @property
    def is_written(self) -> bool:
        """True if somebody wrote the entries by hand: text among them is read as that of a text file."""
        return self.file.format in ("excel", "ods", "fixed")

    @property
    def names(self) -> tuple[str, ...]:
        return self.file.names

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self.file.batches(names)

    def order(self, name: str) -> pa.Array | None:
        return self.file.order(name)

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        return partial(_to_pandas, dtypes={})


@dataclass(frozen=True, eq=False)
class ArrowTable:
    frame: Any

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.column_names)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return iter(self.frame.select(list(names)).to_batches())

    def order(self, name: str) -> pa.Array | None:
        import pyarrow as pa

        kind = self.frame.schema.field(name).type
        if not (pa.types.is_dictionary(kind) and kind.ordered):
            return None
        return self.frame.column(name).unify_dictionaries().combine_chunks().dictionary

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        return partial(_cast_columns, kinds={name: self.frame.schema.field(name).type for name in names})


@dataclass(frozen=True, eq=False)
class PandasTable:
    frame: Any

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        arrays = [as_arrow(self.frame[name], name=name) for name in names]
        return iter(pa.table(dict(zip(names, arrays, strict=True))).to_batches())

    def order(self, name: str) -> pa.Array | None:
        return own_order(self.frame[name], name=name)

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        return partial(_to_pandas, dtypes={name: self.frame[name].dtype for name in names})


@dataclass(frozen=True, eq=False)
class PolarsTable:
    frame: Any

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        return iter(pa.table([self._array(name) for name in names], names=list(names)).to_batches())

    def _array(self, name: str) -> pa.Array:
        import polars as pl
        import pyarrow as pa

        column = self.frame[name]
        if column.dtype == pl.Object:
            raise InputError(f"column {name!r} holds Python objects: give text, numbers or dates")
        try:
            return column.to_arrow()
        except pa.ArrowException:
            # Integers of 128 bits have no type in Arrow.
            return column.cast(pl.String).to_arrow()

    def order(self, name: str) -> pa.Array | None:
        import polars as pl
        import pyarrow as pa

        kind = self.frame.schema[name]
        return pa.array(kind.categories.to_list(), pa.large_string()) if isinstance(kind, pl.Enum) else None

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        return partial(_to_polars, kinds={name: self.frame.schema[name] for name in names})


@dataclass(frozen=True, eq=False)
class RelationTable:
    """A DuckDB relation: read once, because a second run might return other rows."""

    relation: Any

    @property
    def names(self) -> tuple[str, ...]:
        with reading(_RELATION):
            return tuple(self.relation.columns)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        with reading(_RELATION):
            return iter(self.relation.project(quoted).to_arrow_table().to_batches())

    def order(self, name: str) -> pa.Array | None:
        import pyarrow as pa

        kind = self.relation.types[self.names.index(name)]
        return pa.array(kind.children[0][1], pa.string()) if kind.id == "enum" else None

    def from_arrow(self, names: Sequence[str]) -> FromArrow:
        return _to_relation


def _cast_columns(table: pa.Table, kinds: dict[str, Any]) -> pa.Table:
    """Columns in the types they came with, where the values allow it."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        kind = kinds.get(field.name, field.type)
        column = table.column(at)
        try:
            if pa.types.is_dictionary(kind):
                column = column.cast(kind.value_type).dictionary_encode()
            table = table.set_column(at, field.name, column.cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue  # for example, rounding turned integers into fractions: keep the values, change the type
    return table


def _to_relation(table: pa.Table) -> Any:
    import duckdb

    if not table.num_columns:
        raise InputError(
            "no key is known, and a DuckDB relation must have a column; name a known key, or use another kind of frame."
        )
    return duckdb.from_arrow(table)


def _to_polars(table: pa.Table, kinds: dict[str, Any]) -> Any:
    import polars as pl

    frame = pl.DataFrame(pl.from_arrow(table))
    for name in kinds.keys() & set(frame.columns):
        column = frame[name]
        if kinds[name].is_integer() and column.dtype.is_float() and (column != column.round()).any():
            continue  # polars would drop the fractions
        try:
            frame = frame.with_columns(column.cast(kinds[name]))
        except pl.exceptions.PolarsError:
            continue
    return frame


def _to_pandas(table: pa.Table, dtypes: dict[str, Any]) -> Any:
    import pandas as pd
    import pyarrow as pa

    # Arrow would turn integers with nulls into floats.
    for at, field in enumerate(table.schema):
        if pa.types.is_integer(field.type) and table.column(at).null_count:
            table = table.set_column(at, field.name, table.column(at).cast(pa.int64()))
    with_nulls = {f.name for f, c in zip(table.schema, table.columns, strict=True) if c.null_count}
    columns = {}
    for name in table.column_names:
        mapper = (
            {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get if name in with_nulls else None
        )
        series = table.select([name]).to_pandas(types_mapper=mapper)[name]
        series = with_own_categories(series, dtypes.get(name))
        categories = getattr(dtypes.get(name), "categories", None)
        strange = categories is not None and not (series.isna() | series.isin(categories)).all()
        if name in dtypes and series.dtype != dtypes[name] and not strange:
            with suppress(TypeError, ValueError, pa.ArrowException):
                converted = series.astype(dtypes[name])
                # 2.5 would become 2: keep the values, change the type.
                series = converted if (converted.isna() | (converted == series)).all() else series
        columns[name] = series
    return pd.DataFrame(columns)
