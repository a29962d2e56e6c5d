"""Nearest neighbours among the records that are in no group yet: a k-d tree whose boxes shrink. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

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
def _nearest(
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
        _nearest(points, points[place], spans, low, high, group, found, apart, waiting)
        group[found] = number
        _shrink(points, leaf_of[place], spans, low, high, group)
        for i in found:
            _shrink(points, leaf_of[i], spans, low, high, group)
        left -= size
        number += 1
    group[group < 0] = number
    return group[place_of]
