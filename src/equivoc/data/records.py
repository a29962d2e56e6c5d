"""The records of a Microdata: codes in memory, or a table that an engine counts where it lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from equivoc.data.as_read import ColumnRoles, TextFacts, is_text, read_as_texts, without_missing
from equivoc.data.cells import Cells
from equivoc.data.columns import Codes, Column, Encoder, plain, rows_behind, typed
from equivoc.data.counted_records import RECORDS_AT_ONCE, CanonicalRecords, FileRecords, count_records
from equivoc.data.tables import CsvTable, EngineTable, OtherTable, Table
from equivoc.errors import InputError
from equivoc.reading.reading import GUESS, Reading

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.engines.csv_file import CsvFile
    from equivoc.engines.engine import Engine


class Records(Protocol):
    """Levels and codes of the role columns.

    Records keep the order of the source's rows; if those have none (a database), records are sorted by the keys'
    levels in the caller's order of keys, then by the confidential level.
    """

    def __len__(self) -> int: ...

    @property
    def dropped(self) -> int:
        """Rows dropped because a confidential value was missing."""

    @property
    def csv_file(self) -> CsvFile | None:
        """The CSV file that they come from; None for all other sources."""

    @property
    def facts(self) -> TextFacts:
        """How the texts of the source were read."""

    def source_rows(self, records: Sequence[int]) -> list[int]:
        """The source's row numbers of these records, from 0: they differ if rows were dropped."""

    def levels(self, name: str) -> pa.Array: ...

    def codes(self, name: str) -> Codes: ...

    def pieces(self, names: Sequence[str]) -> Iterator[list[Codes]]:
        """The codes of these columns, for some million records at a time, in the records' order."""

    def raw(self, name: str) -> pa.ChunkedArray:
        """A column without encoding, one entry per record."""

    @property
    def key_order(self) -> tuple[str, ...]:
        """The keys, those with most levels first: the order in which they are counted."""

    @property
    def engine(self) -> Engine | None:
        """The engine that holds the records; None if their codes are held here."""

    def cells(self) -> Cells | None:
        """Cells of keys × the confidential column's levels, if the engine has counted them; else None."""


def open_records(
    table: Table,
    *,
    keys: Sequence[str],
    confidential: Sequence[str],
    raw: Sequence[str],
    drop_missing: bool,
    sample: int | None = None,
    seed: int = 0,
    given: Reading = GUESS,
    kept: Sequence[str] = (),
) -> tuple[Records, int]:
    """The records of a table, or a simple random ``sample`` of them, and how many there are in all.

    The columns in ``raw`` (survey weights) are not encoded. Nothing is guessed about the texts of those in ``kept``.
    """
    records = _open_all(
        table,
        keys=keys,
        confidential=confidential,
        raw=raw,
        drop_missing=drop_missing,
        drawn=sample is not None,
        given=given,
        kept=kept,
    )
    total = len(records)
    if sample is None or sample >= total:
        return records, total
    numbers = np.sort(np.random.default_rng(seed).choice(total, sample, replace=False, shuffle=False))
    if isinstance(records, FileRecords):
        records = records.in_canonical_order(keys, confidential[0])
    return records.sample(numbers), total


def _open_all(
    table: Table,
    *,
    keys: Sequence[str],
    confidential: Sequence[str],
    raw: Sequence[str],
    drop_missing: bool,
    drawn: bool,
    given: Reading,
    kept: Sequence[str],
) -> HeldRecords | FileRecords | CanonicalRecords:
    # Records without an order can be matched with their weights only if they are read together.
    together = bool(raw) and (drawn or (isinstance(table, EngineTable) and not table.engine.ordered))
    if isinstance(table, EngineTable) and len(confidential) == 1 and not together and given.missing is None:
        counted = count_records(
            table.engine, keys=keys, confidential=confidential[0], drop_missing=drop_missing
        )
        if counted is not None:
            return counted
    if isinstance(table, EngineTable) and not confidential and not table.engine.ordered:
        raise InputError(
            f"{table.engine.label} is counted where it lies, with its confidential column: name it by confidential"
        )
    return _hold(
        table,
        keys=keys,
        confidential=confidential,
        raw=raw,
        drop_missing=drop_missing,
        given=given,
        kept=kept,
    )


@dataclass(frozen=True, eq=False)
class HeldRecords:
    """Every record's codes in memory: frames, relations and CSV files."""

    columns: Mapping[str, Column]
    """The keys and the confidential columns."""
    keys: Sequence[str]
    raws: Mapping[str, pa.ChunkedArray]
    left_out: NDArray[np.int64]
    """The rows that are no records: those without a confidential value, and those that a sample left out."""
    csv_file: CsvFile | None
    facts: TextFacts = field(default_factory=TextFacts)
    not_drawn: int = 0
    """How many rows a sample left out."""

    @property
    def dropped(self) -> int:
        return self.left_out.size - self.not_drawn

    def source_rows(self, records: Sequence[int]) -> list[int]:
        return rows_behind(records, self.left_out)

    @property
    def key_order(self) -> tuple[str, ...]:
        return tuple(sorted(self.keys, key=lambda name: -len(self.columns[name].levels)))

    def __len__(self) -> int:
        return next(iter(self.columns.values())).codes.size

    def levels(self, name: str) -> pa.Array:
        return self.columns[name].levels

    def codes(self, name: str) -> Codes:
        return self.columns[name].codes

    def pieces(self, names: Sequence[str]) -> Iterator[list[Codes]]:
        for start in range(0, len(self), RECORDS_AT_ONCE):
            yield [self.columns[name].codes[start : start + RECORDS_AT_ONCE] for name in names]

    def raw(self, name: str) -> pa.ChunkedArray:
        return self.raws[name]

    @property
    def engine(self) -> None:
        return None

    def cells(self) -> None:
        return None

    def sample(self, numbers: NDArray[np.int64]) -> HeldRecords:
        """The records with these numbers, which ascend."""
        import pyarrow as pa

        kept = np.zeros(len(self), np.bool_)
        kept[numbers] = True
        others = np.array(self.source_rows(np.flatnonzero(~kept).tolist()), np.int64)
        return HeldRecords(
            {name: column.kept(kept) for name, column in self.columns.items()},
            self.keys,
            {name: column.filter(pa.array(kept)) for name, column in self.raws.items()},
            np.sort(np.concatenate([self.left_out, others])),
            self.csv_file,
            self.facts,
            others.size,
        )


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


def _canonical(
    columns: Mapping[str, Column], raws: Mapping[str, pa.ChunkedArray]
) -> tuple[dict[str, Column], dict[str, pa.ChunkedArray]]:
    """The records sorted by their codes, column by column, then by what is not encoded."""
    import pyarrow as pa
    import pyarrow.compute as pc

    by = [column.codes for column in columns.values()]
    by += [pc.rank(raw, tiebreaker="dense").to_numpy() for raw in raws.values()]
    order = np.lexsort(by[::-1])
    return (
        {name: Column(column.levels, column.codes[order]) for name, column in columns.items()},
        {name: raw.take(pa.array(order)) for name, raw in raws.items()},
    )


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
    table: Table,
    *,
    keys: Sequence[str],
    confidential: Sequence[str],
    raw: Sequence[str],
    drop_missing: bool,
    given: Reading,
    kept: Sequence[str],
) -> HeldRecords:
    import pyarrow as pa

    columns, raws = held_columns(table, [*keys, *confidential], raw=raw)
    roles = ColumnRoles([name for name in confidential if name not in kept], keys, kept)
    columns, raws, facts = as_read(table, columns, raws, given=given, roles=roles)
    if is_written(table):
        columns = {name: typed(c) if name in keys and is_text(c.levels) else c for name, c in columns.items()}
    file = table.file if isinstance(table, CsvTable) else None
    if isinstance(table, EngineTable) and not table.engine.ordered:
        columns, raws = _canonical(columns, raws)
    stay = np.ones(len(next(iter(columns.values())).codes), np.bool_)
    for name in confidential:
        if drop_missing and columns[name].levels.null_count:
            stay &= columns[name].codes != len(columns[name].levels) - 1
    if stay.all():
        return HeldRecords(columns, keys, raws, np.empty(0, np.int64), file, facts)
    return HeldRecords(
        {name: column.kept(stay) for name, column in columns.items()},
        keys,
        {name: column.filter(pa.array(stay)) for name, column in raws.items()},
        np.flatnonzero(~stay),
        file,
        facts,
    )


def is_written(table: Table) -> bool:
    """True if the table's values are text that people wrote, in a text file or a spreadsheet."""
    return isinstance(table, CsvTable) or (isinstance(table, OtherTable) and table.is_written)


def as_read(
    table: Table,
    columns: Mapping[str, Column],
    raws: Mapping[str, pa.ChunkedArray],
    *,
    given: Reading,
    roles: ColumnRoles,
) -> tuple[dict[str, Column], dict[str, pa.ChunkedArray], TextFacts]:
    """The columns, and those that are not encoded, as the reading says; only a text file is guessed about."""
    import pyarrow as pa

    if not is_written(table) and given.missing is None:
        return dict(columns), dict(raws), TextFacts()
    unencoded = {name: raw_column(name, raw) for name, raw in raws.items() if name not in columns}
    everything = {**columns, **unencoded}
    if not is_written(table):
        found, facts = without_missing(everything, given=given)
    else:

        def place(name: str, level: int) -> str:
            row = int(np.argmax(everything[name].codes == level))
            if not isinstance(table, CsvTable):
                return f"in row {row} (counting from 0)"
            file = table.file
            return f"on line {file.lines([row])[0]} of {file.path.name},"

        def elsewhere() -> Iterator[pa.Array]:
            others = [name for name in table.names if name not in everything and table.names.count(name) == 1]
            for column in held_columns(table, others)[0].values() if others else ():
                yield column.levels

        decisive = ColumnRoles(
            [*roles.decisive, *(name for name in unencoded if name not in roles.kept)],
            roles.others,
            roles.kept,
        )
        found, facts = read_as_texts(
            everything, roles=decisive, given=given, place=place, elsewhere=elsewhere
        )
    read = {
        name: pa.chunked_array([column.levels.take(pa.array(column.codes))])
        if column is not unencoded.get(name)
        else raws[name]
        for name, column in found.items()
        if name in raws
    }
    return {name: found[name] for name in columns}, {name: read.get(name, raws[name]) for name in raws}, facts


def raw_column(name: str, raw: pa.ChunkedArray) -> Column:
    """A column that was not encoded, as levels in the order of the rows, and codes."""
    import pyarrow as pa

    whole = raw.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.nulls(0)
    found = plain(whole, name=name).dictionary_encode("encode")
    return Column(found.dictionary, found.indices.to_numpy(zero_copy_only=False).astype(np.uint32))
