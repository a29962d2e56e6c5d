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


# Nearest neighbours among the records that are in no group yet: a k-d tree whose boxes shrink. Compiled.

LEAF = 16
"""The most records in a leaf."""


@njit(cache=True, nogil=True)
def _tree(points: Floats) -> tuple[Codes, Codes, Floats, Floats]:
    """Record numbers in the order of the leaves, the range of each node in them, and the lower and upper corners of the
    nodes' boxes.

    Node i has the children 2i and 2i + 1: it is halved at the median of the attribute in which it is widest.
    """
    n, dimensions = points.shape
    leaves = 1
    while leaves * LEAF < n:
        leaves *= 2
    order = np.arange(n)
    spans = np.zeros((2 * leaves, 2), dtype=np.int64)
    low = np.full((2 * leaves, dimensions), np.inf)
    high = np.full((2 * leaves, dimensions), -np.inf)
    spans[1, 1] = n
    for node in range(1, 2 * leaves):
        begin, end = spans[node]
        for i in order[begin:end]:
            for c in range(dimensions):
                low[node, c] = min(low[node, c], points[i, c])
                high[node, c] = max(high[node, c], points[i, c])
        if node >= leaves:
            continue
        widest = np.argmax(high[node] - low[node])
        inside = order[begin:end].copy()
        order[begin:end] = inside[np.argsort(points[inside, widest], kind="mergesort")]
        middle = (begin + end) // 2
        spans[2 * node, 0], spans[2 * node, 1] = begin, middle
        spans[2 * node + 1, 0], spans[2 * node + 1, 1] = middle, end
    return order, spans, low, high


@njit(cache=True, nogil=True)
def _to_box(point: Floats, low: Floats, high: Floats) -> float:
    """The squared distance from a point to a box; infinite if the box is empty."""
    total = 0.0
    for c in range(len(point)):
        apart = max(low[c] - point[c], point[c] - high[c], 0.0)
        total += apart * apart
    return total


@njit(cache=True, nogil=True)
def _nearest_neighbours(
    points: Floats,
    point: Floats,
    spans: Codes,
    low: Floats,
    high: Floats,
    group: Codes,
    found: Codes,
    apart: Floats,
    waiting: Codes,
) -> None:
    """Fill ``found`` with the nearest records in no group to a point, and ``apart`` with their squared distances."""
    leaves = len(spans) // 2
    apart[:] = np.inf
    last = len(found) - 1
    waiting[0], count = 1, 1
    while count > 0:
        count -= 1
        node = waiting[count]
        if _to_box(point, low[node], high[node]) >= apart[last]:
            continue
        if node < leaves:
            one, other = 2 * node, 2 * node + 1
            if _to_box(point, low[one], high[one]) < _to_box(point, low[other], high[other]):
                one, other = other, one
            waiting[count], waiting[count + 1] = one, other  # the nearer child is searched first
            count += 2
            continue
        for i in range(spans[node, 0], spans[node, 1]):
            if group[i] >= 0:
                continue
            total = 0.0
            for c in range(len(point)):
                step = points[i, c] - point[c]
                total += step * step
            if total < apart[last]:
                place = last
                while place > 0 and apart[place - 1] > total:
                    apart[place], found[place] = apart[place - 1], found[place - 1]
                    place -= 1
                apart[place], found[place] = total, i


@njit(cache=True, nogil=True)
def _shrink(points: Floats, node: int, spans: Codes, low: Floats, high: Floats, group: Codes) -> None:
    """Shrink the box of a leaf, and the boxes of its ancestors, to the records that are in no group yet."""
    for c in range(points.shape[1]):
        least, greatest = np.inf, -np.inf
        for i in range(spans[node, 0], spans[node, 1]):
            if group[i] < 0:
                least, greatest = min(least, points[i, c]), max(greatest, points[i, c])
        low[node, c], high[node, c] = least, greatest
    changed = True
    while changed and node > 1:
        node //= 2
        changed = False
        for c in range(points.shape[1]):
            least = min(low[2 * node, c], low[2 * node + 1, c])
            greatest = max(high[2 * node, c], high[2 * node + 1, c])
            changed |= least != low[node, c] or greatest != high[node, c]
            low[node, c], high[node, c] = least, greatest


@njit(cache=True, nogil=True)
def groups_from_outside(points: Floats, outermost_first: Codes, size: int) -> Codes:
    """The group of each row of ``points`` (records × attributes): the outermost record in no group forms a group with
    its nearest neighbours; this is repeated until fewer than 2·size are left, which form the last group.

    ``size`` is at least 2.
    """
    order, spans, low, high = _tree(points)
    left, leaves = len(points), len(spans) // 2
    points = points[order]  # records of one leaf are adjacent
    place_of = np.empty(left, dtype=np.int64)
    place_of[order] = np.arange(left)
    leaf_of = np.empty(left, dtype=np.int64)
    for node in range(leaves, 2 * leaves):
        leaf_of[spans[node, 0] : spans[node, 1]] = node
    group = np.full(left, -1, dtype=np.int64)
    found = np.empty(size - 1, dtype=np.int64)
    apart = np.empty(size - 1)
    waiting = np.empty(128, dtype=np.int64)
    number = 0
    for record in outermost_first:
        if left < 2 * size:
            break
        place = place_of[record]
        if group[place] >= 0:
            continue
        group[place] = number
        _nearest_neighbours(points, points[place], spans, low, high, group, found, apart, waiting)
        group[found] = number
        _shrink(points, leaf_of[place], spans, low, high, group)
        for i in found:
            _shrink(points, leaf_of[i], spans, low, high, group)
        left -= size
        number += 1
    group[group < 0] = number
    return group[place_of]
