"""The compiled tree over released records and the search in it; `record_tree` prepares and explains them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.signedinteger[Any]]
Floats = npt.NDArray[np.float64]

LEAF = 8
# A larger distance between centres separates suppressed values from others.
APART = 1e250
# Distances that differ by less than this share are ties: sums of squares are not exact.
TIE = 1e-9
INF = np.inf


@njit(cache=True, nogil=True)
def cut(sorted_centres: Floats) -> int:
    """Where to split: never between equal centres, as near the middle as possible; suppressed values are split off."""
    count = len(sorted_centres)
    if sorted_centres[-1] - sorted_centres[0] > APART:
        return int(np.searchsorted(sorted_centres, 0.5 * (sorted_centres[0] + sorted_centres[-1])))
    middle = sorted_centres[count // 2]
    below = int(np.searchsorted(sorted_centres, middle))
    above = int(np.searchsorted(sorted_centres, middle, side="right"))
    if below == 0 or (above < count and above - count // 2 < count // 2 - below):
        return above
    return below


@njit(cache=True, nogil=True)
def grow(centres: Floats, lows: Floats, highs: Floats) -> tuple[Ints, Ints, Ints, Ints, Floats, Floats]:
    """The order of the rows, each node's first and last row, its left child (the right one follows; −1: a leaf), and
    the box that holds all of its rows."""
    rows, keys = centres.shape
    order = np.arange(rows)
    first = np.zeros(2 * rows, np.int64)
    past = np.zeros(2 * rows, np.int64)
    left = np.full(2 * rows, -1, np.int64)
    box_low = np.empty((2 * rows, keys))
    box_high = np.empty((2 * rows, keys))
    past[0] = rows
    nodes = 1
    node = 0
    while node < nodes:
        begin, end = first[node], past[node]
        widest, spread = 0, 0.0
        for k in range(keys):
            low, high, least, most = INF, -INF, INF, -INF
            for i in range(begin, end):
                row = order[i]
                low, high = min(low, lows[row, k]), max(high, highs[row, k])
                least, most = min(least, centres[row, k]), max(most, centres[row, k])
            box_low[node, k], box_high[node, k] = low, high
            if most - least > spread:
                widest, spread = k, most - least
        if end - begin > LEAF and spread > 0:
            mine = order[begin:end].copy()
            sorting = np.argsort(centres[mine, widest])
            order[begin:end] = mine[sorting]
            middle = begin + cut(centres[order[begin:end], widest])
            left[node] = nodes
            first[nodes], past[nodes] = begin, middle
            first[nodes + 1], past[nodes + 1] = middle, end
            nodes += 2
        node += 1
    return order, first[:nodes], past[:nodes], left[:nodes], box_low[:nodes].copy(), box_high[:nodes].copy()


@njit(cache=True, nogil=True)
def step(away: float, scale: float) -> float:
    """The square of a distance along one key: categories (scale 0) and null differ by 1."""
    if scale == 0.0 or away == INF:
        return 1.0
    return (away * scale) ** 2


@njit(cache=True, nogil=True)
def to_box(points: Floats, c: int, scales: Floats, low: Floats, high: Floats, node: int) -> float:
    """A lower bound of the distance between class c and the rows of the node."""
    total = 0.0
    for k in range(points.shape[1]):
        at = points[c, k]
        if at < low[node, k]:
            away = step(low[node, k] - at, scales[k])
            # A row that is null there is at distance 1, however far the others are.
            total += min(away, 1.0) if high[node, k] == INF else away
        elif at > high[node, k]:
            total += step(at - high[node, k], scales[k])
    return total


@njit(cache=True, nogil=True)
def to_row(
    points: Floats,
    c: int,
    scales: Floats,
    starts: Ints,
    ends: Ints,
    lows: Floats,
    highs: Floats,
    firsts: Floats,
    lasts: Floats,
    row: int,
    radius: float,
) -> float:
    """The distance between class c and a row; stops once it exceeds the radius.

    A value from ``lows`` to ``highs`` is inside an interval; other distances are measured to ``firsts``, ``lasts``.
    """
    total = 0.0
    for k in range(points.shape[1]):
        at = points[c, k]
        away = INF
        for i in range(starts[row, k], ends[row, k]):
            if at < lows[i]:
                away = min(away, firsts[i] - at)
            elif at > highs[i]:
                away = min(away, at - lasts[i])
            else:
                away = 0.0
                break
        if away > 0.0:
            total += step(away, scales[k])
            if total > radius:
                return total
    return total


@njit(cache=True, nogil=True)
def link(
    points: Floats,
    scales: Floats,
    order: Ints,
    first: Ints,
    past: Ints,
    left: Ints,
    box_low: Floats,
    box_high: Floats,
    starts: Ints,
    ends: Ints,
    lows: Floats,
    highs: Floats,
    firsts: Floats,
    lasts: Floats,
    group_starts: Ints,
    groups: Ints,
    weights: Floats,
    width: int,
    nearest: bool,
) -> tuple[Ints, Ints, Floats]:
    """For each class, the groups of the rows that fit it (or of those nearest to it) and their weights: CSR."""
    pointers = np.zeros(len(points) + 1, np.int64)
    found_groups = np.empty(max(1024, 2 * len(points)), np.int64)
    found = np.empty(len(found_groups))
    sums = np.zeros(width)
    touched = np.empty(width, np.int64)
    stack = np.empty(len(first) + 2, np.int64)
    bounds = np.empty(len(first) + 2)
    filled = 0
    for c in range(len(points)):
        radius = 0.0
        seen = 0
        # First, if requested, the smallest distance; then all rows within it.
        for collecting in range(0 if nearest else 1, 2):
            if collecting == 0:
                radius = INF
            elif nearest:
                radius = radius * (1 + TIE)
            top = 0
            stack[0], bounds[0] = 0, to_box(points, c, scales, box_low, box_high, 0)
            while top >= 0:
                node, bound = stack[top], bounds[top]
                top -= 1
                if bound > radius:
                    continue
                if left[node] >= 0:
                    near, far = left[node], left[node] + 1
                    to_near = to_box(points, c, scales, box_low, box_high, near)
                    to_far = to_box(points, c, scales, box_low, box_high, far)
                    if to_far < to_near:
                        near, far, to_near, to_far = far, near, to_far, to_near
                    if to_far <= radius:
                        top += 1
                        stack[top], bounds[top] = far, to_far
                    if to_near <= radius:
                        top += 1
                        stack[top], bounds[top] = near, to_near
                    continue
                for i in range(first[node], past[node]):
                    row = order[i]
                    away = to_row(points, c, scales, starts, ends, lows, highs, firsts, lasts, row, radius)
                    if away > radius:
                        continue
                    if collecting == 0:
                        radius = away
                        continue
                    for j in range(group_starts[row], group_starts[row + 1]):
                        if sums[groups[j]] == 0.0:
                            touched[seen] = groups[j]
                            seen += 1
                        sums[groups[j]] += weights[j]
        if filled + seen > len(found):
            room = 2 * (filled + seen)
            longer_groups, longer = np.empty(room, np.int64), np.empty(room)
            longer_groups[:filled], longer[:filled] = found_groups[:filled], found[:filled]
            found_groups, found = longer_groups, longer
        for i in range(seen):
            found_groups[filled + i] = touched[i]
            found[filled + i] = sums[touched[i]]
            sums[touched[i]] = 0.0
        filled += seen
        pointers[c + 1] = filled
    return pointers, found_groups[:filled].copy(), found[:filled].copy()
