"""Compiled search for classes that are alone on some of the keys."""

from __future__ import annotations

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
import numpy as np
from numba import njit
from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def lone_rows(
    key_codes: NDArray[np.int32],
    columns: NDArray[np.int64],
    rows: NDArray[np.int64],
    single: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Which of the ``rows`` of ``key_codes`` stand for one record that no other of them equals on the ``columns``.

    ``single`` says which rows of ``key_codes`` stand for one record only. Rows meet in a hash table with twice as many
    places as rows, each held by the first row that came.
    """
    bits = 4
    while (1 << bits) < 2 * rows.size:
        bits += 1
    mask = (1 << bits) - 1
    shift = np.uint64(64 - bits)
    holder = np.full(1 << bits, -1, np.int64)
    lone = np.zeros(rows.size, np.bool_)
    for at in range(rows.size):
        row = rows[at]
        mixed = np.uint64(0)
        for column in columns:
            mixed = (mixed + np.uint64(key_codes[row, column]) + np.uint64(1)) * _MIX
            mixed ^= mixed >> np.uint64(29)
        place = np.int64((mixed * _MIX) >> shift)
        while True:
            first = holder[place]
            if first < 0:
                holder[place] = at
                lone[at] = single[row]
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
    return lone
