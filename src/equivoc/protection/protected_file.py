"""The protected file: its rows and columns, how it is written, and how it is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import file_digest
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.columns import typed
from equivoc.data.microdata import Microdata
from equivoc.data.records import held_columns
from equivoc.data.roles import checked_roles
from equivoc.data.tables import CsvTable, open_table
from equivoc.errors import InputError, did_you_mean
from equivoc.files import check_readable, put_csv, unescaped
from equivoc.protection.judging import MadeRelease
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.release import Release
from equivoc.releases.stated_mechanism import NeverShownError, StatedMechanism
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.noisy_table import NoisyTable
from equivoc.techniques.released_file import PATTERN_SEED, ReleasedFile
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.technique import Technique
from equivoc.techniques.unprotected import Unprotected

if TYPE_CHECKING:
    import pyarrow as pa

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
    """Write the table into a file that is there already, and is its owner's only: it is about single persons."""
    if file_format(path) == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
        return
    frame = _for_csv(table)
    if escape:
        _check_unescaped(frame)
    put_csv(frame, path, escape=escape)


def as_published(table: pa.Table, kind: str, *, escaped: bool) -> pa.Table:
    """The table as it is read from a file of this kind, csv or parquet; it is written into memory only."""
    import pyarrow as pa

    if kind == "parquet":
        import pyarrow.parquet as pq

        packed = pa.BufferOutputStream()
        pq.write_table(table, packed)
        return _without_codes(pq.ParquetFile(pa.BufferReader(packed.getvalue())).read())
    import pandas as pd

    text = StringIO(newline="")
    put_csv(_for_csv(table), text, escape=escaped)
    text.seek(0)
    rows = pd.read_csv(
        text, header=None, dtype=str, keep_default_na=False, na_values=[""], skip_blank_lines=False
    )
    columns = [pa.array(rows[at].iloc[1:], pa.string(), from_pandas=True) for at in rows]
    return _unescaped(pa.table(columns, names=rows.iloc[0].fillna("").tolist()), escaped=escaped)


def found_table(path: Path, kind: str, *, escaped: bool) -> pa.Table:
    """The columns of a file to be compared with `as_published`."""
    import pyarrow as pa

    if kind == "csv":
        return read_table(path, escaped=escaped)
    import pyarrow.parquet as pq

    check_readable(path)
    try:
        return _without_codes(pq.ParquetFile(path).read())
    except (OSError, pa.ArrowException) as broken:
        raise InputError(f"{path} cannot be read: {str(broken).splitlines()[0]}") from None


def _without_codes(table: pa.Table) -> pa.Table:
    """Columns of categories as the values themselves: how a column is coded is not part of its content."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    return table.replace_schema_metadata(None)


def _for_csv(table: pa.Table) -> Any:
    """A pandas frame in which whole numbers stay such if some are missing, and times are full texts."""
    import pandas as pd
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        column = table.column(at)
        if pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        if _as_text(column.type) or pa.types.is_binary(column.type):
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
    if "" in names:
        raise InputError(f"{path} has a column without a name")
    found = pa.Table.from_batches(list(table.batches(names)))
    if not found.num_rows:
        raise InputError(f"{path} has no records, only column names")
    return _unescaped(found, escaped=escaped)


def _unescaped(table: pa.Table, *, escaped: bool) -> pa.Table:
    """The table without the apostrophes before formulas, if there may be some."""
    import pyarrow as pa

    if not escaped:
        return table
    columns = []
    for column in table.columns:
        if not pa.types.is_string(column.type):
            columns.append(column)
            continue
        coded = column.combine_chunks().dictionary_encode()
        plain = pa.array([unescaped(text) for text in coded.dictionary.to_pylist()], coded.dictionary.type)
        columns.append(plain.take(coded.indices))
    return pa.table(columns, names=[unescaped(name) for name in table.column_names])


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal digits."""
    check_readable(path)
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from None


# The releases that a protected file holds, from the file and the people alone: what an intruder gets to see.

Ints = NDArray[np.int64]


def read_back(people: Microdata, technique: Technique, table: pa.Table) -> dict[str, Release]:
    """The release of each confidential attribute; InputError if the technique cannot have made the file."""
    try:
        return {name: _release(people.of(name), technique, table) for name in people.attributes}
    except NeverShownError as mistake:
        raise InputError(mistake.fact) from None


def _release(people: Microdata, technique: Technique, table: pa.Table) -> Release:
    if isinstance(technique, NoisyTable):
        return _counts(people, technique, table)
    if isinstance(technique, (Sampling, Unprotected)):
        return _sample(people, technique, table)
    if isinstance(
        technique, NoiseAddition
    ):  # the intruder who knows the noise, whichever the technique was given
        technique = replace(technique, belief=None)
    return ReleasedFile(table, channel=technique).release(people)


def _codes(people: Microdata, technique: Technique, table: pa.Table, *, count: str = "") -> tuple[Ints, Ints]:
    """Rows × columns with a role: the position of each value among those of the people; and the column of counts."""
    name = people.confidential
    shown = open_table(table)
    checked_roles(shown, confidential=[name], keys=people.keys, weights=None)
    if count and count not in shown.names:
        raise InputError(f"the file has no column {count!r}")
    columns, raws = held_columns(shown, [*people.keys, name], raw=[count] if count else [])
    found = StatedMechanism.of(technique.notation, LinkedRelease.changing(people, {}), columns).evidence
    rows = np.column_stack([*(found.keys[key].codes for key in people.keys), found.symbols])
    return rows.astype(np.int64), _whole_numbers(raws[count]) if count else np.empty(0, dtype=np.int64)


def _whole_numbers(column: pa.ChunkedArray) -> Ints:
    import pyarrow as pa

    try:
        found = column.cast(pa.int64())
    except pa.ArrowInvalid:
        raise InputError("a count in the file is not a whole number") from None
    if found.null_count:
        raise InputError("a count in the file is missing")
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _sample(people: Microdata, technique: Sampling | Unprotected, table: pa.Table) -> Release:
    """The release in which each row is a record with the same values. It does not matter which one of several."""
    rows, _ = _codes(people, technique, table)
    records = np.column_stack([*(people.key_codes(key) for key in people.keys), people.codes])
    drawn = matching_records(rows, records.astype(np.int64))
    if isinstance(technique, Sampling):
        return technique.of_drawn(people, drawn)
    if len(drawn) < len(people):
        raise InputError(f"the file has {len(drawn):,} rows, and there are {len(people):,} people")
    return technique.release(people)


def matching_records(rows: Ints, records: Ints) -> Ints:
    """The numbers, ascending, of records that have the values of the rows, each used once; InputError if there are not
    enough of them.

    >>> matching_records(np.array([[2], [1], [2]]), np.array([[1], [2], [3], [2]])).tolist()
    [0, 1, 3]
    """
    _, numbers = np.unique(np.vstack([records, rows]), axis=0, return_inverse=True)
    of_record, of_row = np.split(numbers.reshape(-1), [len(records)])
    of_row = np.sort(of_row)
    repeated = np.arange(len(of_row)) - np.searchsorted(of_row, of_row)
    order = np.argsort(of_record, kind="stable")
    place = np.searchsorted(of_record[order], of_row) + repeated
    found = order[np.minimum(place, len(records) - 1)]
    lacking = (place >= len(records)) | (of_record[found] != of_row)
    if lacking.any():
        raise InputError(f"{int(lacking.sum()):,} rows of the file are records of nobody")
    return np.asarray(np.sort(found), dtype=np.int64)


def _counts(people: Microdata, technique: NoisyTable, table: pa.Table) -> Release:
    """The noisy counts, each in its cell."""
    pattern = technique.release(people, PATTERN_SEED)
    shape = pattern.counts.shape
    taken = (*people.keys, people.confidential)
    rows, counted = _codes(people, technique, table, count="count" if "count" not in taken else "count_")
    cells = np.ravel_multi_index(tuple(rows.T), shape)
    if len(cells) != pattern.counts.size or len(np.unique(cells)) < len(cells):
        raise InputError(f"the file does not have each of the {pattern.counts.size:,} cells once")
    counts = np.zeros(pattern.counts.size, dtype=np.int64)
    counts[cells] = counted
    return replace(pattern, counts=counts.reshape(shape))
