"""The protected file: its rows and columns, how it is written, and how it is read again."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.csv_output import unescaped, write_csv
from equivoc.data.microdata import Microdata
from equivoc.data.reading.records import held_columns
from equivoc.data.reading.tables import CsvTable, open_table
from equivoc.data.reading.text_columns import typed
from equivoc.decide.protection.making import MadeRelease
from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.files import check_readable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

FORMATS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".parq": "parquet"}


def file_format(path: Path) -> str:
    """csv or parquet, by the file's name; InputError for any other."""
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise InputError(
            f"{path} cannot be written: the name of a protected file ends in .csv or .parquet; choose another name."
        )
    return found


def kept_columns(people: Microdata, keep: Sequence[str], *, as_text: bool) -> dict[str, pa.Array]:
    """Columns of the original that are published as they are, one entry per record.

    Those of a CSV file stay text if ``as_text``, else they get the type that all their values have.
    """
    import pyarrow as pa

    if not keep:
        return {}
    if people.source is None:
        raise InputError("keep needs people who were read from a file; use eq.read(…), or leave it out.")
    table = open_table(people.source)
    roles = (*people.keys, *people.attributes)
    for at, name in enumerate(keep):
        if name in roles:
            raise InputError(
                f"keep names {name!r}, which has a role and is in the file already; leave it out."
            )
        if name not in table.names:
            others = [other for other in table.names if other not in roles]
            raise InputError(f"keep names {name!r}, which is not a column{did_you_mean(name, others)}")
        if name in keep[:at]:
            raise InputError(f"keep names {name!r} twice; name it once.")
    columns, _ = held_columns(table, keep)
    found = {}
    for name, column in columns.items():
        if len(column.codes) != len(people) + people.dropped:
            raise InputError(f"{people.source} has changed since it was read; run the command again.")
        shown = column if as_text or not isinstance(table, CsvTable) else typed(column)
        found[name] = shown.levels.take(pa.array(shown.codes[people.source_rows]))
    return found


def published_table(
    made: MadeRelease, kept: dict[str, pa.Array], order: NDArray[np.int64] | None
) -> pa.Table:
    """The columns of the release and the kept ones, each with its own row, in the given order of rows."""
    import pyarrow as pa

    table = made.table
    if kept and made.origins is None:
        raise InputError("keep cannot be used: the rows of this release are not records of the original.")
    for name, column in kept.items():
        table = table.append_column(name, column.take(pa.array(made.origins)))
    return table if order is None else table.take(pa.array(order))


def write_table(table: pa.Table, path: Path, *, escape: bool) -> None:
    """Write the table, only for its owner to read: it is about single persons until the owner publishes it."""
    if file_format(path) == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
        return
    frame = _for_csv(table)
    if escape:
        _check_unescaped(frame)
    write_csv(frame, path, escape=escape, private=True)


def _for_csv(table: pa.Table) -> Any:
    """A pandas frame in which whole numbers stay such if some are missing, and times are full texts."""
    import pandas as pd
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        column = table.column(at)
        if pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        if _as_text(column.type):
            column = column.cast(pa.string())
        elif pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
            column = column.cast(pa.int64())
        table = table.set_column(at, field.name, column)
    nullable = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    return table.to_pandas(types_mapper=nullable.get)


def _as_text(kind: pa.DataType) -> bool:
    """True for types whose text is that of Arrow, which the reader of released files compares with."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind))


def _check_unescaped(frame: Any) -> None:
    """InputError if a text looks as if it had been escaped already: it could not be told from one that was."""
    for name in frame.columns:
        texts = [name, *frame[name].unique()]
        strange = next((text for text in texts if unescaped(text) is not text), None)
        if strange is not None:
            raise InputError(
                f"{name!r} holds the text {strange!r}, which looks like an escaped formula; write Parquet, or do not "
                "escape formulas (escape=False in Python, --no-escape in a command)."
            )


def read_table(path: Path, *, escaped: bool) -> pa.Table:
    """The file as Arrow columns, those of a CSV file as text, without the apostrophes before formulas."""
    import pyarrow as pa

    table = open_table(path)
    names = list(table.names)
    found = pa.Table.from_batches(list(table.batches(names)))
    if not found.num_rows:
        raise InputError(f"{path} has no records, only column names")
    if not escaped:
        return found
    columns = []
    for name in names:
        if not pa.types.is_string(found.schema.field(name).type):
            columns.append(found.column(name))
            continue
        coded = found.column(name).combine_chunks().dictionary_encode()
        plain = pa.array([unescaped(text) for text in coded.dictionary.to_pylist()], coded.dictionary.type)
        columns.append(plain.take(coded.indices))
    return pa.table(columns, names=[unescaped(name) for name in names])


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal digits."""
    check_readable(path)
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from None
