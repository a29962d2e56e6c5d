"""Records that stay where they are: an engine counts them, and their codes are read or expanded when needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.as_read import TextFacts
from equivoc.data.cells import Cells, Layout, pack_cells
from equivoc.data.columns import Codes, Coding, Column, Encoder, arrange, codings, rows_behind, smallest
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from equivoc.engines.engine import Engine

# Sample size for deciding whether grouping in the engine makes the table smaller.
_PROBE = 1 << 17
RECORDS_AT_ONCE = 1 << 20
"""How many records a piece of them has, at most."""
LARGEST_EXPANSION = 4 * 2**30
"""The most bytes that the codes of all records may take, if they have to be expanded from counts."""

Piece = tuple[list[NDArray[Any]], NDArray[Any], NDArray[np.int64] | None]
"""Coded keys, values, and counts (None: every row is one record)."""


def count_records(
    engine: Engine, *, keys: Sequence[str], confidential: str, drop_missing: bool
) -> FileRecords | CanonicalRecords | None:
    """The records of an engine's table, counted by the engine; None if a cell needs more bits than a word has."""
    if engine.ordered:
        return _count_file(engine, keys=keys, confidential=confidential, drop_missing=drop_missing)
    return _count_groups(engine, keys=keys, confidential=confidential, drop_missing=drop_missing)


@dataclass(frozen=True, eq=False)
class FileRecords:
    """Records in a file whose rows have an order: they are read when their codes are needed."""

    engine: Engine
    key_order: tuple[str, ...]
    codings: Mapping[str, Coding]
    occurring: Mapping[str, NDArray[np.bool_]]
    finest: Cells
    size: int
    dropped: int
    present: Sequence[exp.Expression]
    """Columns that must not be null."""

    @property
    def csv_file(self) -> None:
        return None

    @property
    def facts(self) -> TextFacts:
        return TextFacts()

    def __len__(self) -> int:
        return self.size

    def source_rows(self, records: Sequence[int]) -> list[int]:
        if not self.dropped:
            return list(records)
        nulls = [batch.column(0).is_null() for batch in self.engine.rows({"c": self.present[0]})]
        return rows_behind(records, np.flatnonzero(np.concatenate(nulls)))

    def levels(self, name: str) -> pa.Array:
        return self.codings[name].values(self.occurring[name])

    def codes(self, name: str) -> Codes:
        occurring = self.occurring[name]
        codes = np.empty(self.size, np.min_scalar_type(max(int(occurring.sum()) - 1, 0)))
        at = 0
        for (piece,) in self.pieces([name]):
            codes[at : at + piece.size] = piece
            at += piece.size
        return codes

    def pieces(self, names: Sequence[str]) -> Iterator[list[Codes]]:
        coded = [self.codings[name] for name in names]
        seen = [self.occurring[name] for name in names]
        tables = [smallest(np.maximum(np.cumsum(each) - 1, 0), int(each.sum())) for each in seen]
        columns = {f"c{at}": coding.expression() for at, coding in enumerate(coded)}
        left = self.size
        for batch in self.engine.rows(columns, present=self.present):
            found = [coding.codes(batch.column(at)) for at, coding in enumerate(coded)]
            known = all(
                np.all((codes >= 0) & (codes < coding.size))
                for codes, coding in zip(found, coded, strict=True)
            )
            if batch.num_rows > left or not known:
                raise self._changed
            left -= batch.num_rows
            yield [table[codes] for table, codes in zip(tables, found, strict=True)]
        if left:
            raise self._changed

    @property
    def _changed(self) -> InputError:
        return InputError(f"{self.engine.label} has changed since it was read: read it again")

    def raw(self, name: str) -> pa.ChunkedArray:
        import pyarrow as pa

        answer = self.engine.rows({"c": self.engine.value(name)}, present=self.present)
        return pa.chunked_array([batch.column(0) for batch in answer])

    def cells(self) -> Cells:
        return self.finest

    def in_canonical_order(self, keys: Sequence[str], confidential: str) -> CanonicalRecords:
        """The same records, sorted by these keys, then by the confidential level."""
        levels = {name: self.levels(name) for name in self.codings}
        return CanonicalRecords(
            self.engine, tuple(keys), self.key_order, confidential, levels, self.finest, self.dropped
        )


@dataclass(frozen=True, eq=False)
class CanonicalRecords:
    """Records without an order of their own: sorted by the keys' levels, then by the confidential level.

    Only their counts are known here. The codes of a column are expanded from the cells: each cell's code, repeated as
    often as the cell occurs.
    """

    engine: Engine | None
    """Who counted them; None for a sample, which is known only here."""
    keys: tuple[str, ...]
    key_order: tuple[str, ...]
    confidential: str
    found: Mapping[str, pa.Array]
    """The levels of each column."""
    finest: Cells
    dropped: int

    @property
    def csv_file(self) -> None:
        return None

    @property
    def facts(self) -> TextFacts:
        return TextFacts()

    def __len__(self) -> int:
        return self.finest.total

    def source_rows(self, records: Sequence[int]) -> list[int]:
        """The records' own numbers, because the rows have none."""
        return list(records)

    def levels(self, name: str) -> pa.Array:
        return self.found[name]

    @cached_property
    def _in_order(self) -> Cells:
        return self.finest.select([self.key_order.index(name) for name in self.keys])

    def codes(self, name: str) -> Codes:
        records, columns = len(self), len(self.keys) + 1
        if 4 * records * columns > LARGEST_EXPANSION:
            table = "the sample" if self.engine is None else self.engine.label
            raise InputError(
                f"this needs every record of {table} in memory: {records:,} records of {columns} columns, "
                f"more than {LARGEST_EXPANSION / 2**30:g} GiB; read a sample of them, as in sample=100_000."
            )
        return np.repeat(self._of_cells(name), self._in_order.counts)

    def pieces(self, names: Sequence[str]) -> Iterator[list[Codes]]:
        ends, of_cells = np.cumsum(self._in_order.counts), [self._of_cells(name) for name in names]
        for start in range(0, len(self), RECORDS_AT_ONCE):
            numbers = np.arange(start, min(start + RECORDS_AT_ONCE, len(self)))
            cells = np.searchsorted(ends, numbers, side="right")
            yield [codes[cells] for codes in of_cells]

    def _of_cells(self, name: str) -> Codes:
        """The code of each cell, in the canonical order."""
        place = None if name == self.confidential else self.keys.index(name)
        return smallest(self._in_order.codes(place), len(self.found[name]))

    def sample(self, numbers: NDArray[np.int64]) -> CanonicalRecords:
        """The records with these numbers, which ascend: each cell occurs as often as it holds one of them."""
        cells = self._in_order
        drawn = np.bincount(
            np.searchsorted(np.cumsum(cells.counts), numbers, side="right"), minlength=len(cells)
        )
        kept = drawn > 0
        places = {**{name: at for at, name in enumerate(self.keys)}, self.confidential: None}
        columns = {
            name: arrange([smallest(cells.codes(place)[kept], len(levels))], levels, order=levels)
            for (name, place), levels in zip(places.items(), map(self.levels, places), strict=True)
        }
        found = _packed(None, self.keys, self.confidential, columns, drawn[kept], rows=len(numbers))
        if found is None:
            raise AssertionError("fewer records with fewer levels need no more bits")
        return replace(found, dropped=self.dropped)

    def raw(self, name: str) -> pa.ChunkedArray:
        raise NotImplementedError("records with weights are held")  # open_records does not count them

    def cells(self) -> Cells:
        return self.finest


def _count_file(
    engine: Engine, *, keys: Sequence[str], confidential: str, drop_missing: bool
) -> FileRecords | None:
    """Count the cells of a file whose rows can be read again in the same order."""
    from equivoc.engines import statements

    rows, coded = codings(engine, [*keys, confidential])
    order = tuple(sorted(keys, key=lambda name: -coded[name].size))
    layout = Layout(tuple(coded[name].size for name in order), coded[confidential].size, rows)
    if not layout.fits:
        return None
    ordered = {name: coded[name] for name in (*order, confidential)}
    present: list[exp.Expression] = []
    if drop_missing:
        value = engine.value(confidential)
        present = [statements.without_nan(value) if engine.kind(confidential) == "floating" else value]
    finest = pack_cells(layout, _pieces(engine, ordered, present))
    occurring = {name: finest.occurring(at) for at, name in enumerate(order)}
    occurring[confidential] = finest.occurring(None)
    finest = _dense(finest, list(occurring.values()))
    size = finest.total
    return FileRecords(engine, order, ordered, occurring, finest, size, rows - size, present)


def _dense(finest: Cells, occurring: Sequence[NDArray[np.bool_]]) -> Cells:
    """The cells under codes without gaps."""
    if all(seen.all() for seen in occurring):
        return finest
    tables = [np.maximum(np.cumsum(seen) - 1, 0) for seen in occurring]
    sizes = [int(seen.sum()) for seen in occurring]
    return finest.recode(tables[:-1], tables[-1], radices=sizes[:-1], span=sizes[-1])


def _pieces(
    engine: Engine, coded: Mapping[str, Coding], present: Sequence[exp.Expression]
) -> Iterator[Piece]:
    """Coded keys, values and counts: grouped by the engine if few rows differ, row by row if most do.

    A group costs the engine far more than a row, so grouping pays only if it makes the table much smaller.
    """
    columns = {f"c{at}": coding.expression() for at, coding in enumerate(coded.values())}
    probed = sum(batch.num_rows for batch in engine.counts(columns, present=present, among=_PROBE))
    counting = probed < _PROBE // 8
    answer = engine.counts(columns, present=present) if counting else engine.rows(columns, present=present)
    for batch in answer:
        *found, values = (coding.codes(batch.column(at)) for at, coding in enumerate(coded.values()))
        yield found, values, batch.column(len(columns)).to_numpy() if counting else None


def _count_groups(
    engine: Engine, *, keys: Sequence[str], confidential: str, drop_missing: bool
) -> CanonicalRecords | None:
    """Count the cells by one statement over the columns' values; the groups are coded here."""
    names = [*keys, confidential]
    encoders = {name: Encoder(name) for name in names}
    pieces: list[NDArray[np.int64]] = []
    for batch in engine.counts({f"c{at}": engine.value(name) for at, name in enumerate(names)}):
        for at, encoder in enumerate(encoders.values()):
            encoder.add(batch.column(at))
        pieces.append(np.asarray(batch.column(len(names)).to_numpy(), np.int64))
    counts = np.concatenate(pieces)
    columns = {name: encoder.column() for name, encoder in encoders.items()}
    rows = int(counts.sum())
    if drop_missing and columns[confidential].levels.null_count:
        kept = columns[confidential].codes != len(columns[confidential].levels) - 1
        columns = {name: column.kept(kept) for name, column in columns.items()}
        counts = counts[kept]
    return _packed(engine, tuple(keys), confidential, columns, counts, rows=rows)


def _packed(
    engine: Engine | None,
    keys: tuple[str, ...],
    confidential: str,
    columns: Mapping[str, Column],
    counts: NDArray[np.int64],
    *,
    rows: int,
) -> CanonicalRecords | None:
    order = tuple(sorted(keys, key=lambda name: -len(columns[name].levels)))
    value = columns[confidential]
    layout = Layout(tuple(len(columns[name].levels) for name in order), max(len(value.levels), 1), rows)
    if not layout.fits:
        return None
    finest = pack_cells(layout, [([columns[name].codes for name in order], value.codes, counts)])
    levels = {name: column.levels for name, column in columns.items()}
    dropped = rows - int(counts.sum())
    return CanonicalRecords(engine, keys, order, confidential, levels, finest, dropped)
