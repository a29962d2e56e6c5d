"""A tree search for released records that fit a class of people, or are nearest to it, without listing pairs.

Records with equal symbols of the known keys are one row. The rows are the leaves of a tree: each node has a bounding
box of the intervals of its rows, and no row is nearer than its box. Rows with a suppressed key are separated from the
others, because their boxes would be as wide as the key's range. A box is split at the key with the largest spread,
categories before numbers: a record of another category is as far away as one at the other end of a number's range.

The distance of a class with values v to a row is ``Σ_a δ_a²``: 0 if v_a lies in the row's intervals; for numbers, the
distance to the nearest level in them divided by the range of the original's levels; 1 between categories, and between a
null and anything else. Nearest records tie if their distances are equal up to rounding (1 part in 10⁹).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.linkage.key_linkage import group
from equivoc.releases.symbol_reading import EVERYWHERE, MOST, NULL, Symbols

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SET_APART = 1e300


@dataclass(frozen=True, eq=False)
class RecordTree:
    """The released records, grouped by the known keys, as a search tree."""

    keys: Sequence[Symbols] = field(repr=False)
    """The known keys as released."""
    symbols: Ints = field(repr=False)
    """Rows × known keys: the symbols of each row."""
    counts: Any = field(repr=False)
    """Rows × groups, CSR: how many records of the row are of each group, or what they weigh."""

    @classmethod
    def of(
        cls, keys: Sequence[Symbols], groups: Ints, width: int, weights: Floats | None = None
    ) -> RecordTree:
        """The tree of a file, from its known keys and the group (of ``width``) of each record.

        ``weights`` says how much each record counts; None: 1.
        """
        from scipy.sparse import csr_array

        codes = np.empty((len(groups), len(keys)), dtype=np.int64)
        for column, key in enumerate(keys):
            codes[:, column] = key.codes
        alike = group(codes, tuple(range(len(keys))), [len(key.labels) for key in keys])
        shape = (len(alike.first), width)
        each = np.ones(len(groups)) if weights is None else weights
        counts = csr_array((each, (alike.class_of.reshape(-1), groups)), shape=shape)
        counts.sum_duplicates()
        return cls(keys, codes[alike.first], counts)

    def fitting(self, points: Floats) -> Any:
        """Classes × groups, CSR: the records that fit each class (a row of ``points``), counted by group."""
        return self._link(points, nearest=False)

    def nearest(self, points: Floats) -> Any:
        """Classes × groups, CSR: the records nearest to each class, counted by group; ties all count."""
        return self._link(points, nearest=True)

    @cached_property
    def _intervals(self) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats]:
        """The begin and end of each row's and key's intervals in the following arrays of all intervals."""
        starts, ends = np.empty((2, *self.symbols.shape), dtype=np.int64)
        offset = 0
        for column, key in enumerate(self.keys):
            codes = self.symbols[:, column]
            starts[:, column] = offset + key.starts[codes]
            ends[:, column] = offset + key.starts[codes + 1]
            offset += len(key.lows)
        lows, highs, firsts, lasts = np.empty((4, offset))
        for key in reversed(self.keys):
            here = slice(offset - len(key.lows), offset)
            lows[here], highs[here] = key.lows, key.highs
            firsts[here], lasts[here] = key.ends
            offset = here.start
        return starts, ends, lows, highs, firsts, lasts

    @cached_property
    def _nodes(self) -> tuple[Ints, Ints, Ints, Ints, Floats, Floats]:
        from equivoc.releases import record_tree_kernels

        starts, ends, all_lows, all_highs, _, _ = self._intervals
        lows, highs = all_lows[starts], all_highs[ends - 1]
        centres = np.empty(self.symbols.shape)
        for column, key in enumerate(self.keys):
            centres[:, column] = _centres(key, lows[:, column], highs[:, column])
        grown: tuple[Ints, Ints, Ints, Ints, Floats, Floats] = record_tree_kernels.grow(centres, lows, highs)
        return grown

    def _link(self, points: Floats, *, nearest: bool) -> Any:
        from scipy.sparse import csr_array

        from equivoc.releases import record_tree_kernels

        scales = np.array([key.line.scale for key in self.keys], dtype=np.float64)
        counts = self.counts
        pointers, groups, found = record_tree_kernels.link(
            np.ascontiguousarray(points, dtype=np.float64),
            scales,
            *self._nodes,
            *self._intervals,
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int64),
            np.ascontiguousarray(counts.data, dtype=np.float64),
            counts.shape[1],
            nearest,
        )
        linked = csr_array((found, groups, pointers), shape=(len(points), counts.shape[1]))
        linked.sort_indices()
        return linked


def _centres(key: Symbols, lows: Floats, highs: Floats) -> Floats:
    """Centres of rows, for splitting only: numbers in units of the range, nulls beyond, ``*`` far away."""
    finite = key.line.at[np.isfinite(key.line.at)]
    least, most = (float(finite[0]), float(finite[-1])) if len(finite) else (0.0, 0.0)
    width = most - least or 1.0
    low = np.where(lows == -MOST, least - width, lows)
    high = np.where(highs == MOST, most + width, highs)
    null = most + 2 * width
    centre = 0.5 * (np.where(low == NULL, null, low) + np.where(high == NULL, null, high))
    places = (centre - least) * (key.line.scale if key.line.numeric else 1.0)
    everything = (lows == EVERYWHERE[0]) & (highs == EVERYWHERE[1])
    return np.where(everything, SET_APART, np.clip(places, -1e200, 1e200))
