"""Encodes rows of several code columns as one number each, in lexicographic order, to find equal rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST_CODE = 2**62
"""If a product of radices exceeds this, codes are first replaced by their ranks."""
Ints = NDArray[np.int64]


class RowGroups(NamedTuple):
    """The distinct rows, in lexicographic order."""

    first: Ints
    """Of each distinct row, the number of the first row that equals it."""
    of: Ints
    """Of each row, the number of the distinct row that it equals."""
    times: Ints
    """How often each distinct row occurs."""


def row_codes(columns: Iterable[tuple[NDArray[Any], int]], rows: int) -> tuple[Ints, int]:
    """A number for each row, in lexicographic order of the columns, and an upper bound of these numbers.

    ``columns`` are codes from 0 on with their radix. Equal rows get equal numbers.

    >>> row_codes([(np.array([1, 0, 1]), 2), (np.array([0, 5, 7]), 8)], 3)
    (array([ 8,  5, 15]), 16)
    """
    codes, bound = np.zeros(rows, np.int64), 1
    for column, radix in columns:
        if bound * radix > LARGEST_CODE:
            present, codes = np.unique(codes, return_inverse=True)
            bound = len(present)
        codes = codes.reshape(-1) * radix + column  # NumPy 2.0.0 returns the inverse as a column
        bound *= radix
    return codes, bound


def row_groups(columns: Iterable[tuple[NDArray[Any], int]], rows: int) -> RowGroups:
    """Groups equal rows.

    >>> row_groups([(np.array([1, 0, 1]), 2)], 3).of
    array([1, 0, 1])
    """
    codes, _ = row_codes(columns, rows)
    _, first, of, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return RowGroups(first, of.reshape(-1), times)
