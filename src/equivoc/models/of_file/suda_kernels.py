"""Compiled search for classes that are unique on a subset of the keys."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def unsettled(done: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """The numbers below ``size`` whose bit is not set; the highest bit of a byte comes first."""
    rows = np.empty(size, np.int64)
    kept = 0
    for row in range(size):
        rows[kept] = row
        kept += 1 - ((done[row >> 3] >> (7 - (row & 7))) & 1)
    return rows[:kept]


@njit(cache=True, nogil=True)
def lone_by_table(
    key_codes: NDArray[np.int32],
    columns: NDArray[np.int64],
    radices: NDArray[np.int64],
    rows: NDArray[np.int64],
    single: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Those of the ``rows`` that are a single record and unique on the ``columns``.

    Every combination of levels has an entry: 0, no record; 1, one record; 2, more.
    """
    entries = 1
    for radix in radices:
        entries *= radix
    table = np.zeros(entries, np.uint8)
    codes = np.zeros(rows.size, np.int64)
    for at in range(columns.size):
        column, radix = columns[at], radices[at]
        for i in range(rows.size):
            codes[i] = codes[i] * radix + key_codes[rows[i], column]
    for i in range(rows.size):
        table[codes[i]] = 1 if table[codes[i]] == 0 and single[rows[i]] else 2
    lone = np.empty(rows.size, np.int64)
    kept = 0
    for i in range(rows.size):
        lone[kept] = rows[i]
        kept += table[codes[i]] == 1
    return lone[:kept]


@njit(cache=True, nogil=True)
def lone_by_hash(
    key_codes: NDArray[np.int32],
    columns: NDArray[np.int64],
    rows: NDArray[np.int64],
    single: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """The same if there are too many combinations of levels for a table.

    Uses a hash table with at least twice as many slots as rows; a slot holds the first row with its levels.
    """
    bits = 4
    while (1 << bits) < 2 * rows.size:
        bits += 1
    mask = (1 << bits) - 1
    shift = np.uint64(64 - bits)
    holder = np.full(1 << bits, -1, np.int64)
    lone = np.zeros(rows.size, np.bool_)
    for i in range(rows.size):
        row = rows[i]
        mixed = np.uint64(0)
        for column in columns:
            mixed = (mixed + np.uint64(key_codes[row, column]) + np.uint64(1)) * _MIX
            mixed ^= mixed >> np.uint64(29)
        place = np.int64((mixed * _MIX) >> shift)
        while True:
            first = holder[place]
            if first < 0:
                holder[place] = i
                lone[i] = single[row]
                break
            same = True
            for column in columns:
                if key_codes[row, column] != key_codes[rows[first], column]:
                    same = False
                    break
            if same:
                lone[first] = False
                break
            place = (place + 1) & mask
    return rows[lone]


@njit(cache=True, nogil=True)
def add_uniques(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    weight: float,
    score: NDArray[np.float64],
    found: NDArray[np.int64],
    smallest: NDArray[np.int64],
    by_key: NDArray[np.float64],
) -> None:
    """Enter one minimal sample unique, the ``columns``, for each of the ``rows``; small ones must come first."""
    for row in rows:
        score[row] += weight
        found[row] += 1
        if smallest[row] == 0:
            smallest[row] = columns.size
        for column in columns:
            by_key[row, column] += weight


@njit(cache=True, nogil=True)
def settle(rows: NDArray[np.int64], done: NDArray[np.uint8]) -> None:
    """Set the bits of the ``rows``."""
    for row in rows:
        done[row >> 3] |= np.uint8(128) >> np.uint8(row & 7)
