"""Mondrian's cuts, compiled; mondrian.py describes the method."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.signedinteger[Any]]


@njit(cache=True, nogil=True)
def halving_cut(
    rows: Ints, sizes: Ints, first: int, past: int, key: int, low: int, high: int, total: int, counts: Ints
) -> tuple[int, int]:
    """The level after which a cut comes nearest to halving rows first … past − 1, and the number of records up to it.

    Of two equally good cuts, the lower one is taken. `counts` is all zero on entry and on return.
    """
    nearest = total + 1
    best = below = left = 0
    if high - low <= 8 * (past - first):
        for i in range(first, past):
            counts[rows[i, key] - low] += sizes[i]
        for level in range(low, high):
            below += counts[level - low]
            away = abs(2 * below - total)
            if away < nearest:
                nearest, best, left = away, level, below
        counts[: high - low + 1] = 0
        return best, left
    # Few rows over a wide range of levels: sorting them is faster than visiting every level.
    order = np.argsort(rows[first:past, key])
    for i in range(past - first - 1):
        below += sizes[first + order[i]]
        level = rows[first + order[i], key]
        away = abs(2 * below - total)
        if level < rows[first + order[i + 1], key] and away < nearest:
            nearest, best, left = away, level, below
    return best, left


@njit(cache=True, nogil=True)
def cut_apart(rows: Ints, sizes: Ints, order: Ints, first: int, past: int, key: int, level: int) -> int:
    """Move the rows up to the level before the others; returns where the others begin."""
    last = past - 1
    while first <= last:
        if rows[first, key] <= level:
            first += 1
            continue
        for column in range(rows.shape[1]):
            rows[first, column], rows[last, column] = rows[last, column], rows[first, column]
        sizes[first], sizes[last] = sizes[last], sizes[first]
        order[first], order[last] = order[last], order[first]
        last -= 1
    return first


@njit(cache=True, nogil=True)
def mondrian(rows: Ints, sizes: Ints, levels: Ints, k: int, part_of: Ints, lows: Ints, highs: Ints) -> int:
    """Fill part_of with the part of each row, lows and highs (parts × keys) with its bounds; returns the number of
    parts.

    A row represents `sizes` records; `levels` is the number of levels of each key. Rows and sizes are reordered.
    """
    number, keys = rows.shape
    order = np.arange(number)
    counts = np.zeros(levels.max() if keys else 1, np.int64)
    low, high = np.empty(keys, np.int64), np.empty(keys, np.int64)
    tried = np.empty(keys, np.bool_)
    starts, ends = np.empty(number + 1, np.int64), np.empty(number + 1, np.int64)
    starts[0], ends[0] = 0, number
    waiting = 1
    parts = 0
    while waiting:
        waiting -= 1
        first, past = starts[waiting], ends[waiting]
        low[:] = rows[first]
        high[:] = rows[first]
        total = 0
        for i in range(first, past):
            total += sizes[i]
            for key in range(keys):
                low[key] = min(low[key], rows[i, key])
                high[key] = max(high[key], rows[i, key])
        tried[:] = False
        middle = first
        while total >= 2 * k:
            widest = -1
            for key in range(keys):
                if tried[key] or high[key] == low[key]:
                    continue
                # A key's span is (high − low)/(levels − 1); cross-multiplied, to compare whole numbers exactly.
                if widest < 0 or (high[key] - low[key]) * (levels[widest] - 1) > (
                    high[widest] - low[widest]
                ) * (levels[key] - 1):
                    widest = key
            if widest < 0:
                break
            tried[widest] = True
            level, left = halving_cut(
                rows, sizes, first, past, widest, low[widest], high[widest], total, counts
            )
            if min(left, total - left) >= k:
                middle = cut_apart(rows, sizes, order, first, past, widest, level)
                break
        if middle == first:
            lows[parts] = low
            highs[parts] = high
            part_of[order[first:past]] = parts
            parts += 1
            continue
        starts[waiting], ends[waiting] = first, middle
        starts[waiting + 1], ends[waiting + 1] = middle, past
        waiting += 2
    return parts
