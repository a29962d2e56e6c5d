"""The class of each record, by a search for its key codes among the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.counting.row_codes import row_codes

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
