"""Groups of at least ``size`` records with a small sum of squares. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

BLOCK = 512
"""Distances computed at a time: one block fits in the first-level cache."""


@njit(cache=True, nogil=True)
def shortest_path(ascending: Floats, size: int) -> Codes:
    """The sizes of the groups, in ascending order of values, of the partition with the smallest sum of squares.

    Hansen and Mukherjee (2003): an optimal group consists of size to 2·size − 1 neighbouring values; the best partition
    is a shortest path over the n + 1 positions between values. A group's sum of squares is updated value by value
    (Welford), which avoids overflow and cancellation.
    """
    n = len(ascending)
    loss = np.full(n + 1, np.inf)
    last = np.zeros(n + 1, dtype=np.int64)
    loss[0] = 0.0
    for end in range(size, n + 1):
        mean, within = 0.0, 0.0
        for taken in range(1, min(2 * size - 1, end) + 1):
            value = ascending[end - taken]
            apart = value - mean
            mean += apart / taken
            within += apart * (value - mean)
            if taken >= size and loss[end - taken] + within < loss[end]:
                loss[end] = loss[end - taken] + within
                last[end] = taken
    groups = 0
    end = n
    while end > 0:
        end -= last[end]
        groups += 1
    sizes = np.empty(groups, dtype=np.int64)
    end = n
    while end > 0:
        groups -= 1
        sizes[groups] = last[end]
        end -= last[end]
    return sizes


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _distances(
    columns: Floats, weights: Floats, to: Floats, begin: int, end: int, out: Floats
) -> tuple[float, float]:
    """Weighted squared distances of records begin … end − 1 to a point, and the smallest and largest of them."""
    apart = out[begin:end]
    for i in range(len(apart)):
        apart[i] = 0.0
    for c in range(len(columns)):
        column, at, weight = columns[c, begin:end], to[c], weights[c]
        for i in range(len(apart)):
            step = column[i] - at
            apart[i] += weight * (step * step)
    least, greatest = np.inf, -np.inf
    for i in range(len(apart)):
        least = apart[i] if apart[i] < least else least
        greatest = apart[i] if apart[i] > greatest else greatest
    return least, greatest


@njit(cache=True, nogil=True)
def _farthest(columns: Floats, weights: Floats, left: int, to: Floats, ids: Codes, out: Floats) -> int:
    """The position of the record farthest from a point; of several, the one with the lowest id."""
    best, at = -1.0, -1
    for begin in range(0, left, BLOCK):
        end = min(begin + BLOCK, left)
        _, greatest = _distances(columns, weights, to, begin, end, out)
        if greatest >= best:
            for i in range(begin, end):
                if out[i] > best or (out[i] == best and ids[i] < ids[at]):
                    best, at = out[i], i
    return at


@njit(cache=True, nogil=True)
def _nearest(
    columns: Floats, weights: Floats, left: int, to: Floats, ids: Codes, out: Floats, found: Codes
) -> None:
    """Fill ``found`` with the positions of the records nearest to a point; of several, those with the lowest ids."""
    size, have = len(found), 0
    worst = np.inf
    for begin in range(0, left, BLOCK):
        end = min(begin + BLOCK, left)
        least, _ = _distances(columns, weights, to, begin, end, out)
        if have == size and least > worst:
            continue
        for i in range(begin, end):
            if have == size and (out[i] > worst or (out[i] == worst and ids[i] > ids[found[size - 1]])):
                continue
            place = have if have < size else size - 1
            while place > 0 and (
                out[i] < out[found[place - 1]]
                or (out[i] == out[found[place - 1]] and ids[i] < ids[found[place - 1]])
            ):
                found[place] = found[place - 1]
                place -= 1
            found[place] = i
            have = min(have + 1, size)
            worst = out[found[have - 1]]


@njit(cache=True, nogil=True)
def _take(
    columns: Floats, left: int, ids: Codes, sums: Floats, found: Codes, group: Codes, number: int
) -> int:
    """Put the found records into a group and fill their positions with the last records; returns how many are left."""
    places = np.sort(found)
    for k in range(len(places) - 1, -1, -1):
        place = places[k]
        group[ids[place]] = number
        left -= 1
        for c in range(len(columns)):
            sums[c] -= columns[c, place]
            columns[c, place] = columns[c, left]
        ids[place] = ids[left]
    return left


@njit(cache=True, nogil=True)
def mdav(columns: Floats, weights: Floats, size: int) -> Codes:
    """The group of each record by MDAV-generic (Domingo-Ferrer and Torra, 2005); ``columns`` is overwritten.

    While at least 3·size records are left, the record farthest from their centroid forms a group with its size − 1
    nearest records, and so does the record farthest from that one. If 2·size or more are left then, the record farthest
    from the centroid forms one more group; the remaining records form the last. If ``columns`` has whole numbers, the
    centroid's sums are exact.
    """
    dimensions, left = columns.shape
    group = np.zeros(left, dtype=np.int64)
    ids = np.arange(left)
    out = np.empty(left)
    found = np.empty(size, dtype=np.int64)
    sums = np.zeros(dimensions)
    for c in range(dimensions):
        for i in range(left):
            sums[c] += columns[c, i]
    number = 0
    while left >= 2 * size:
        pair = left >= 3 * size
        first = columns[:, _farthest(columns, weights, left, sums / left, ids, out)].copy()
        _nearest(columns, weights, left, first, ids, out, found)
        left = _take(columns, left, ids, sums, found, group, number)
        number += 1
        if pair:
            second = columns[:, _farthest(columns, weights, left, first, ids, out)].copy()
            _nearest(columns, weights, left, second, ids, out, found)
            left = _take(columns, left, ids, sums, found, group, number)
            number += 1
    for i in range(left):
        group[ids[i]] = number
    return group
