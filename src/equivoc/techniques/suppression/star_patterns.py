"""A greedy choice of few key values to star (suppress) so that every combination occurs at least k times.

Combinations that occur k times are not changed. For the others, sets T of keys to star are tried in order of size:
people who agree on all keys outside T, and are k or more, are released with T starred. Among sets of one size, the one
that covers most people comes first. If fewer than k people remain at the end, they are joined with one released group,
and all values in which they and the group differ are starred; the group with the fewest new stars is chosen.

Only distinct combinations and their counts are used, so the order of records has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.linkage.linkage_walk import group


def starred_cells(
    codes: NDArray[np.integer[Any]], sizes: NDArray[np.int64], levels: Sequence[int], *, k: int
) -> NDArray[np.bool_]:
    """Combinations × keys: True where a value is starred. ``codes`` are distinct combinations, ``sizes`` their counts
    (k or more in total).

    >>> starred_cells(np.array([[0, 0], [1, 0], [1, 1]]), np.array([2, 1, 1]), [2, 2], k=2)
    array([[False, False],
           [False,  True],
           [False,  True]])
    """
    stars = np.zeros(codes.shape, dtype=bool)
    small = np.flatnonzero(sizes < k)
    keys = range(codes.shape[1])
    for size in range(1, len(keys) + 1):
        small = _star_keys(list(combinations(keys, size)), small, stars, codes, sizes, levels, k)
    if len(small):
        _join_released(small, stars, codes, sizes, levels)
    return stars


def _star_keys(
    choices: list[tuple[int, ...]],
    small: NDArray[np.int64],
    stars: NDArray[np.bool_],
    codes: NDArray[np.integer[Any]],
    sizes: NDArray[np.int64],
    levels: Sequence[int],
    k: int,
) -> NDArray[np.int64]:
    """Star one set of keys after the other, the one that covers most people first; returns who is not yet covered."""
    # The number of people that a set covers can only fall as others are covered: an old count is an upper bound.
    waiting = [(-int(sizes[small].sum()), chosen) for chosen in choices] if len(small) else []
    heapify(waiting)
    while waiting:
        _, chosen = heappop(waiting)
        kept = tuple(key for key in range(codes.shape[1]) if key not in chosen)
        together = group(codes[small].astype(np.int64), kept, levels).class_of
        served = np.bincount(together, sizes[small])[together] >= k
        now = (-int(sizes[small[served]].sum()), chosen)
        if not now[0]:
            continue
        if waiting and waiting[0] < now:
            heappush(waiting, now)
            continue
        stars[small[served][:, None], chosen] = True
        small = small[~served]
    return small


def _join_released(
    left: NDArray[np.int64],
    stars: NDArray[np.bool_],
    codes: NDArray[np.integer[Any]],
    sizes: NDArray[np.int64],
    levels: Sequence[int],
) -> None:
    """Star all values in which the remaining people and one released group differ, in both."""
    star = np.array(levels)
    shown = np.where(stars, star, codes).astype(np.int64)
    common = np.where((codes[left] == codes[left[0]]).all(axis=0), codes[left[0]], star)
    released = np.setdiff1d(np.arange(len(codes)), left)
    groups = group(shown[released], tuple(range(len(levels))), [each + 1 for each in levels])
    of_group = shown[released[groups.first]]
    people = np.bincount(groups.class_of, sizes[released])
    after = (of_group == star) | (of_group != common)
    before = (of_group == star).sum(axis=1)
    cost = people * (after.sum(axis=1) - before) + sizes[left].sum() * after.sum(axis=1)
    chosen = int(np.argmin(cost))
    stars[np.concatenate([left, released[groups.class_of == chosen]])] = after[chosen]
