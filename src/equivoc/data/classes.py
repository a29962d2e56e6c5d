"""Equivalence classes: people with equal known keys, and the confidential values in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.columns import fixed
from equivoc.data.lattice import row_codes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from equivoc.data.cells import Cells, Split, WideCells
    from equivoc.data.microdata import Microdata


@dataclass(frozen=True, eq=False)
class Classes:
    """One class for each combination of known key values that occurs, in lexicographic order of levels.

    A null is treated as a value of its own. With no known key there is one class: everyone.
    """

    known: tuple[str, ...]
    """The keys that the intruder knows; classes are sorted by the first key first."""
    people: Microdata = field(repr=False)
    cells: Cells | WideCells = field(repr=False)

    def __len__(self) -> int:
        """How many classes there are."""
        return self.sizes.size

    @cached_property
    def _split(self) -> Split:
        return self.cells.split()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records each class has."""
        return fixed(self._split.sizes)

    @cached_property
    def counts(self) -> csr_array:
        """Classes × values: how many records of the class have the value. Columns ascend within a row."""
        from scipy.sparse import csr_array

        self.people.check_confidential()
        starts, values, counts, sizes = self._split
        # scipy needs the same type for both index arrays.
        indices = values.astype(starts.dtype, copy=False)
        matrix = csr_array((counts, indices, starts), shape=(sizes.size, self.cells.layout.span))
        matrix.has_sorted_indices = True
        return matrix

    @cached_property
    def key_codes(self) -> NDArray[np.int32]:
        """Classes × known keys: the position of the class's value among the key's levels."""
        return fixed(self.cells.key_codes(self._split.starts))

    @cached_property
    def keys(self) -> Any:
        """The classes' key values: a frame of the kind that went in, with the columns ``known``."""
        columns = {
            name: self.people.decode(name, codes)
            for name, codes in zip(self.known, self.key_codes.T, strict=True)
        }
        return self.people.like(columns)

    @cached_property
    def of_record(self) -> NDArray[np.int32]:
        """The class of every record, in the records' order."""
        columns = [self.people.key_codes(name) for name in self.known]
        return fixed(class_of_records(self.key_codes, columns, len(self.people)))

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """The sum of the survey weights of each class; None without weights."""
        if self.people.weights is None:
            return None
        sums = np.bincount(self.of_record, weights=self.people.weights, minlength=len(self))
        return fixed(np.asarray(sums, np.float64))


# The class of each record, by a search for its key codes among the classes.

# Records are looked up in pieces of this many, to bound the working memory.
_PIECE = 1 << 22


def class_of_records(
    key_codes: NDArray[np.int32], columns: Sequence[NDArray[Any]], records: int
) -> NDArray[np.int32]:
    """The row of ``key_codes`` (classes × keys, sorted) that equals each record's codes.

    >>> class_of_records(np.array([[0, 1], [2, 0]], np.int32), [np.array([2, 0, 2]), np.array([0, 1, 0])], 3)
    array([1, 0, 1], dtype=int32)
    """
    found = np.zeros(records, np.int32)
    for at in range(0, records, _PIECE):
        piece = [column[at : at + _PIECE] for column in columns]
        found[at : at + _PIECE] = _lookup(key_codes, piece, min(_PIECE, records - at))
    return found


def _lookup(key_codes: NDArray[np.int32], columns: Sequence[NDArray[Any]], records: int) -> NDArray[Any]:
    """Each record's row number among the classes."""
    classes = len(key_codes)
    both = [
        (np.concatenate([of_class, of_record]), int(of_class.max()) + 1)
        for of_class, of_record in zip(key_codes.T, columns, strict=True)
    ]
    codes, bound = row_codes(both, classes + records)
    of_class, of_record = codes[:classes], codes[classes:]
    if bound <= 4 * records + 1024:
        table = np.zeros(bound, np.int32)
        table[of_class] = np.arange(len(of_class))
        return table[of_record]
    # A search in ascending order uses the cache better.
    order = np.argsort(of_record)
    found = np.empty(records, np.int64)
    found[order] = np.searchsorted(of_class, of_record[order])
    return found
