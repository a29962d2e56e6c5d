"""Cells whose fields do not fit one word: the classes' codes in columns, the cells as (class, value, count).

Slower than packed cells, and needed only for many keys of many levels. Dropping keys leads back to packed
cells as soon as what is left fits a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.counting.cells import Cells, Layout, Split, pack_cells
from equivoc.data.counting.row_codes import row_groups

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
