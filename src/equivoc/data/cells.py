"""Counts of each value in each class, packed into one 64-bit word per cell.

A *class* is a combination of key codes, a *cell* a class with a value. `Cells` keeps the cells sorted and
packed into one unsigned 64-bit word each, ``[key | … | key | value | count]``; `WideCells`
keeps them in columns, for tables whose fields need more bits than a word has. Both have the
same methods: `select` (other keys, in another order), `drop` (one key fewer), `split` (the classes) and
`key_codes` (the key values of each class).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.data.lattice import row_groups
from equivoc.errors import InputError

WORD_BITS = 63
# Rows are packed and sorted in pieces of this many, so that a long table is never completely in memory.
PIECE = 1 << 22


class Split(NamedTuple):
    """The classes of a table of cells, in lexicographic order."""

    starts: NDArray[Any]
    """Where each class's cells start; one more entry than classes."""
    values: NDArray[np.int32]
    """The value of each cell, ascending within a class."""
    counts: NDArray[np.int64]
    """How often each cell occurs."""
    sizes: NDArray[np.int64]
    """How many records each class has."""


@dataclass(frozen=True)
class Layout:
    """Which bits of a word hold which field.

    >>> Layout(radices=(69, 2), span=25, records=1000).bits
    23
    """

    radices: tuple[int, ...]
    """How many levels each key has."""
    span: int
    """How many different values there can be."""
    records: int
    """No count can be larger."""

    @property
    def widths(self) -> list[int]:
        """Bits of each key's field."""
        return [max(1, (radix - 1).bit_length()) for radix in self.radices]

    @property
    def count_bits(self) -> int:
        return max(1, self.records.bit_length())

    @property
    def class_bit(self) -> int:
        """The lowest bit of the last key."""
        return self.count_bits + max(1, (self.span - 1).bit_length())

    @property
    def bits(self) -> int:
        """Bits of a whole word."""
        return self.class_bit + sum(self.widths)

    @property
    def fits(self) -> bool:
        return self.bits <= WORD_BITS

    @property
    def key_bits(self) -> list[int]:
        """The lowest bit of each key's field; the first key is the highest."""
        places, bit = [], self.bits
        for width in self.widths:
            bit -= width
            places.append(bit)
        return places

    def field(self, position: int | None) -> tuple[int, int]:
        """Lowest bit and width of the key at ``position``; None: of the value."""
        if position is None:
            return self.count_bits, self.class_bit - self.count_bits
        return self.key_bits[position], self.widths[position]

    def without(self, position: int) -> Layout:
        return self.of([p for p in range(len(self.radices)) if p != position])

    def of(self, positions: Sequence[int]) -> Layout:
        return Layout(tuple(self.radices[p] for p in positions), self.span, self.records)


@dataclass(frozen=True, eq=False)
class Cells:
    """Sorted, distinct cells, one packed word each."""

    layout: Layout
    words: NDArray[np.uint64]

    def __len__(self) -> int:
        return self.words.size

    @property
    def total(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each cell occurs."""
        return (self.words & np.uint64((1 << self.layout.count_bits) - 1)).astype(np.int64)

    def codes(self, position: int | None) -> NDArray[np.uint64]:
        """Each cell's code of the key at ``position`` (None: its value)."""
        bit, width = self.layout.field(position)
        return (self.words >> np.uint64(bit)) & np.uint64((1 << width) - 1)

    def select(self, positions: Sequence[int]) -> Cells:
        """The cells of the keys at ``positions``, in that order; the other keys are summed over."""
        from equivoc.data import lattice_kernels as kernels

        if list(positions) == list(range(len(self.layout.radices))):
            return self
        target = self.layout.of(positions)
        source_bits, widths = self.layout.key_bits, self.layout.widths
        words = np.empty_like(self.words)
        kernels.move_fields(
            self.words,
            words,
            np.array([source_bits[p] for p in positions], np.int64),
            np.array(target.key_bits, np.int64),
            np.array([widths[p] for p in positions], np.int64),
            self.layout.class_bit,
        )
        return Cells(target, _sorted_and_merged(words, target))

    def drop(self, position: int) -> Cells:
        """The cells without the key at ``position``: fastest for the last key, slowest for the first."""
        from equivoc.data import lattice_kernels as kernels

        low, width = self.layout.key_bits[position], self.layout.widths[position]
        longest = kernels.longest_segment(self.words, low + width)
        out = np.empty_like(self.words)
        kept = kernels.drop_field(self.words, out, low, width, self.layout.count_bits, longest)
        return Cells(self.layout.without(position), _shrunk(out, kept))

    def occurring(self, position: int | None) -> NDArray[np.bool_]:
        """Which codes of the key at ``position`` (None: of the value) occur."""
        from equivoc.data import lattice_kernels as kernels

        bit, width = self.layout.field(position)
        seen = np.zeros(1 << width, np.bool_)
        kernels.mark_field(self.words, bit, width, seen)
        return seen[: self.layout.span if position is None else self.layout.radices[position]]

    def recode(
        self, tables: Sequence[NDArray[Any]], value_table: NDArray[Any], *, radices: Sequence[int], span: int
    ) -> Cells:
        """The same cells under other codes: ``tables[k][code]`` for key ``k``, ``value_table[value]`` for the
        value.

        Each table must be non-decreasing: then the cells stay sorted, and equal ones are adjacent.
        The new fields must fit a word.
        """
        from equivoc.data import lattice_kernels as kernels

        target = Layout(tuple(radices), span, self.layout.records)
        if target == self.layout and all(_is_identity(table) for table in (*tables, value_table)):
            return self
        words = self.words & np.uint64((1 << self.layout.count_bits) - 1)
        for position, table in [*enumerate(tables), (None, value_table)]:
            shifted = np.asarray(table, np.uint64) << np.uint64(target.field(position)[0])
            kernels.add_field(self.words, words, *self.layout.field(position), shifted)
        return Cells(target, _sorted_and_merged(words, target))

    def split(self) -> Split:
        """Where each class's cells lie, their values and counts, and the class's size."""
        from equivoc.data import lattice_kernels as kernels

        class_bit = self.layout.class_bit
        classes = kernels.count_classes(self.words, class_bit)
        starts: NDArray[Any] = np.zeros(classes + 1, np.int32 if self.words.size < 2**31 else np.int64)
        sizes = np.empty(classes, np.int64)
        values = np.empty(self.words.size, np.int32)
        counts = np.empty(self.words.size, np.int64)
        kernels.split(self.words, class_bit, self.layout.count_bits, starts, values, counts, sizes)
        return Split(starts, values, counts, sizes)

    def key_codes(self, starts: NDArray[Any]) -> NDArray[np.int32]:
        """Classes × keys: each class's level of each key, given where the classes start."""
        firsts = self.words[starts[:-1]]
        key_codes = np.empty((firsts.size, len(self.layout.radices)), np.int32, order="F")
        for column, (bit, width) in enumerate(zip(self.layout.key_bits, self.layout.widths, strict=True)):
            key_codes[:, column] = (firsts >> np.uint64(bit)) & np.uint64((1 << width) - 1)
        return key_codes


def count_cells(
    columns: Sequence[NDArray[Any]], values: NDArray[Any], *, radices: Sequence[int], span: int
) -> Cells | WideCells:
    """Count the records of each cell from one code per record and key, and one value per record.

    Each key's codes lie in ``0 … radix − 1``, the values in ``0 … span − 1``; any integer type is allowed.

    >>> cells = count_cells([np.array([1, 0, 1])], np.array([2, 2, 2]), radices=[2], span=3)
    >>> cells.split().sizes
    array([1, 2])
    """
    layout = Layout(tuple(radices), span, len(values))
    _check_codes(columns, values, layout)
    if not layout.fits:
        return count_wide_cells(columns, values, layout)
    pieces = (
        ([column[at : at + PIECE] for column in columns], values[at : at + PIECE], None)
        for at in range(0, max(len(values), 1), PIECE)
    )
    return pack_cells(layout, pieces)


def pack_cells(
    layout: Layout,
    pieces: Iterable[tuple[Sequence[NDArray[Any]], NDArray[Any], NDArray[np.int64] | None]],
) -> Cells:
    """Count pieces of a table: key codes, values and (if a row stands for several records) counts of each
    piece.

    A sorted piece is kept until another of about the same length exists, then they are merged: each cell is merged
    few times, and memory holds cells, not rows.
    """
    from equivoc.data import lattice_kernels as kernels

    waiting: list[NDArray[np.uint64]] = []
    unsorted: list[NDArray[np.uint64]] = []

    def settle() -> None:
        waiting.append(_sorted_and_merged(np.concatenate(unsorted), layout))
        unsorted.clear()

    for columns, values, counts in pieces:
        words = np.ones(len(values), np.uint64) if counts is None else counts.astype(np.uint64)
        kernels.add_codes(words, values, layout.count_bits)
        for column, bit in zip(columns, layout.key_bits, strict=True):
            kernels.add_codes(words, column, bit)
        unsorted.append(words)
        if sum(piece.size for piece in unsorted) < PIECE:
            continue
        settle()
        while len(waiting) > 1 and waiting[-2].size < 2 * waiting[-1].size:
            waiting.append(_merged(waiting.pop(), waiting.pop(), layout))
    if unsorted or not waiting:
        unsorted.append(np.empty(0, np.uint64))
        settle()
    while len(waiting) > 1:
        waiting.append(_merged(waiting.pop(), waiting.pop(), layout))
    return Cells(layout, waiting[0])


def _check_codes(columns: Sequence[NDArray[Any]], values: NDArray[Any], layout: Layout) -> None:
    named = [*((f"key {i}", c, r) for i, (c, r) in enumerate(zip(columns, layout.radices, strict=True)))]
    for name, codes, radix in [*named, ("value", values, layout.span)]:
        if len(codes) != len(values):
            raise InputError(
                f"the codes of {name} have {len(codes)} entries, but there are {len(values)} records"
            )
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < radix:
            raise InputError(f"the codes of {name} must lie in 0 … {radix - 1}")


def _sorted_and_merged(words: NDArray[np.uint64], layout: Layout) -> NDArray[np.uint64]:
    from equivoc.data import lattice_kernels as kernels

    kept = kernels.sort_and_merge(words, np.empty_like(words), layout.count_bits, layout.bits)
    return _shrunk(words, kept)


def _merged(left: NDArray[np.uint64], right: NDArray[np.uint64], layout: Layout) -> NDArray[np.uint64]:
    from equivoc.data import lattice_kernels as kernels

    out = np.empty(left.size + right.size, np.uint64)
    return _shrunk(out, kernels.merge(left, right, out, layout.count_bits))


def _is_identity(table: NDArray[Any]) -> bool:
    return np.array_equal(table, np.arange(table.size))


def _shrunk(words: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Free the memory after the first ``size`` words."""
    words.resize(size, refcheck=False)
    return words


# Cells whose fields do not fit one word: the classes' codes in columns, the cells as (class, value, count).
#
# Slower than packed cells, and needed only for many keys of many levels. Dropping keys leads back to packed
# cells as soon as what is left fits a word.

# Ranks below 2^31 times levels below 2^31 stay within a signed 64-bit integer.


@dataclass(frozen=True, eq=False)
class WideCells:
    """Sorted, distinct cells in columns."""

    layout: Layout
    class_codes: NDArray[np.int32]
    """Classes × keys, sorted lexicographically."""
    classes: NDArray[np.int64]
    """The class of each cell."""
    values: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return self.values.size

    def select(self, positions: Sequence[int]) -> Cells | WideCells:
        """The cells of the keys at ``positions``, in that order; the other keys are summed over."""
        target = self.layout.of(positions)
        key_codes = self.class_codes[:, list(positions)]
        if target.fits:
            columns = [column[self.classes] for column in key_codes.T]
            return pack_cells(target, [(columns, self.values, self.counts)])
        return _gather(target, key_codes, self.classes, self.values, self.counts)

    def drop(self, position: int) -> Cells | WideCells:
        """The cells without the key at ``position``."""
        return self.select([p for p in range(len(self.layout.radices)) if p != position])

    def split(self) -> Split:
        """Where each class's cells lie, their values and counts, and the class's size."""
        found = len(self.class_codes)
        starts = np.searchsorted(self.classes, np.arange(found + 1))
        sizes = np.add.reduceat(self.counts, starts[:-1]) if found else np.empty(0, np.int64)
        return Split(starts, self.values, self.counts, sizes)

    def key_codes(self, starts: NDArray[Any]) -> NDArray[np.int32]:
        """Classes × keys: each class's level of each key."""
        return np.asarray(self.class_codes[self.classes[starts[:-1]]])


def count_wide_cells(columns: Sequence[NDArray[Any]], values: NDArray[Any], layout: Layout) -> WideCells:
    """Count the records of each cell, whatever the number of keys and levels."""
    records = len(values)
    key_codes = np.empty((records, len(columns)), np.int32)
    for position, column in enumerate(columns):
        key_codes[:, position] = column
    return _gather(layout, key_codes, np.arange(records), values, np.ones(records, np.int64))


def _gather(
    layout: Layout,
    key_codes: NDArray[np.int32],
    classes: NDArray[np.int64],
    values: NDArray[Any],
    counts: NDArray[np.int64],
) -> WideCells:
    """Merge classes of equal codes, then cells of equal class and value."""
    first, ranks, _ = row_groups(zip(key_codes.T, layout.radices, strict=True), len(key_codes))
    cell_codes = ranks[classes] * layout.span + values
    order = np.argsort(cell_codes, kind="stable")
    ordered = cell_codes[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    merged = ordered[starts]
    return WideCells(
        layout,
        key_codes[first],
        merged // layout.span,
        (merged % layout.span).astype(np.int32),
        np.add.reduceat(counts[order], starts) if starts.size else counts[:0],
    )
