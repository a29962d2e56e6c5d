"""Ranges of one key: an order of the atoms in which every known sum is a run, and the moves of prefix sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Finds an order of atoms in which every known sum is a contiguous run, as sums over ranges of one key are.

# Sets × atoms whose rows the atoms are sorted by, and members of sets that are searched: tenths of a second.
_MOST_SORTED = 4_000_000
_MOST_SEARCHED = 100_000


def range_order(
    matrix: Any, ranks: Sequence[NDArray[np.int64]] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """An order of the columns in which the ones of each row are contiguous, and each row's first and past-last place.

    ``matrix`` is a scipy CSR array of 0 and 1 without empty rows, ``ranks`` candidate orders, each the rank of every
    column. Tried after them: the order of the columns as they are, by the largest rows (finds nested sets), and the
    search of ``one_key_order``. None if there is no such order, or the matrix is too large to search.

    >>> from scipy import sparse
    >>> order, first, past = range_order(sparse.csr_array([[1, 0, 1], [0, 1, 1]]))
    >>> order.tolist(), first.tolist(), past.tolist()
    ([0, 2, 1], [0, 1], [2, 3])
    """
    for order in _candidates(matrix, ranks):
        runs = _runs(matrix, order)
        if runs is not None:
            return order, *runs
    return None


def _candidates(matrix: Any, ranks: Sequence[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    rows, columns = matrix.shape
    for rank in ranks:
        yield np.argsort(rank, kind="stable")
    yield np.arange(columns)
    if rows * columns > _MOST_SORTED:
        return
    dense = matrix.toarray()
    largest_last = np.argsort(dense.sum(axis=1), kind="stable")
    yield np.lexsort(dense[largest_last])
    if len(matrix.indices) <= _MOST_SEARCHED:
        order = one_key_order(np.split(matrix.indices, matrix.indptr[1:-1]), columns)
        if order is not None:
            yield order


def _runs(matrix: Any, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Each row's first and past-last place, if its ones are contiguous in this order; None if those of some are not."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    places = place[matrix.indices]
    first = np.minimum.reduceat(places, matrix.indptr[:-1])
    past = np.maximum.reduceat(places, matrix.indptr[:-1]) + 1
    return (first, past) if np.array_equal(past - first, np.diff(matrix.indptr)) else None


# Which sets of atoms share members, and which sets are linked by them.

_MOST_DENSE_ENTRIES = 3e7


def membership(sets: Sequence[NDArray[np.int64]], atoms: int) -> Any:
    """A scipy CSR array of 0 and 1, sets × atoms."""
    from scipy.sparse import csr_array

    columns = np.concatenate([np.empty(0, dtype=np.int64), *sets])
    start = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
    return csr_array((np.ones(len(columns), dtype=np.int64), columns, start), shape=(len(sets), atoms))


def overlaps(
    sets: Sequence[NDArray[np.int64]], atoms: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of sets that share atoms (both orders, and each set with itself), and how many they share.

    >>> [part.tolist() for part in overlaps([np.array([0, 1]), np.array([1])], 2)]
    [[0, 0, 1, 1], [0, 1, 0, 1], [2, 1, 1, 1]]
    """
    from scipy.sparse import csr_array

    matrix = membership(sets, atoms)
    if max(len(sets), atoms) * len(sets) <= _MOST_DENSE_ENTRIES:
        # Counts below 2^24 are exact in float32.
        dense = matrix.toarray().astype(np.float32)
        table = dense @ dense.T
        one, other = np.nonzero(table)
        return one, other, np.rint(table[one, other]).astype(np.int64)
    shared = csr_array(matrix @ matrix.T).tocoo()
    return shared.row.astype(np.int64), shared.col.astype(np.int64), shared.data


def linked(sets: Sequence[NDArray[np.int64]], atoms: int) -> NDArray[np.int64]:
    """A number for each atom; atoms that sets link, directly or through others, have the same."""
    from scipy.sparse import block_array
    from scipy.sparse.csgraph import connected_components

    matrix = membership(sets, atoms)
    _, label = connected_components(block_array([[None, matrix], [matrix.T, None]]), directed=False)
    return np.asarray(label[len(sets) :], dtype=np.int64)


def one_key_order(sets: Sequence[NDArray[np.int64]], atoms: int) -> NDArray[np.int64] | None:
    """An order of the atoms in which every set is a run of neighbours; None if there is none.

    Sets that partly overlap fix each other's places up to reversal; such a class lies in one block of any larger class.

    >>> one_key_order([np.array([0, 2]), np.array([2, 1])], 3).tolist()
    [0, 2, 1]
    """
    wanted = sorted({frozenset(s.tolist()) for s in sets}, key=lambda s: (-len(s), sorted(s)))
    classes = _overlap_classes(wanted, atoms)
    parts: list[list[int]] = [list(range(atoms))]
    part_of = [0] * atoms
    tree: dict[int, list[int]] = {0: []}
    for members in sorted(classes, key=lambda c: (-len(frozenset().union(*c)), len(c), sorted(c[0]))):
        blocks = _blocks(members)
        if blocks is None:
            return None
        home = part_of[min(blocks[0])]
        union = set().union(*blocks)
        if any(part_of[atom] != home for atom in union):
            return None
        parts[home] = [atom for atom in parts[home] if atom not in union]
        for block in blocks:
            number = len(parts)
            parts.append(sorted(block))
            tree[number] = []
            tree[home].append(number)
            for atom in block:
                part_of[atom] = number
    order: list[int] = []
    stack = [0]
    while stack:
        part = stack.pop()
        order.extend(parts[part])
        stack.extend(reversed(tree[part]))
    in_order = np.array(order, dtype=np.int64)
    return (
        None
        if _runs(membership([np.array(list(one)) for one in wanted], atoms), in_order) is None
        else in_order
    )


def _overlap_classes(sets: list[frozenset[int]], atoms: int) -> list[list[frozenset[int]]]:
    """Classes of sets that partial overlaps link, each in an order in which every set overlaps an earlier one."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    one, other, shared = overlaps([np.array(sorted(s), dtype=np.int64) for s in sets], atoms)
    sizes = np.array([len(s) for s in sets], dtype=np.int64)
    partial = (shared < sizes[one]) & (shared < sizes[other])
    graph = csr_array(
        (np.ones(int(partial.sum())), (one[partial], other[partial])), shape=(len(sets), len(sets))
    )
    count, label = connected_components(graph, directed=False)
    found = []
    for name in range(count):
        order = breadth_first_order(graph, int(np.flatnonzero(label == name)[0]), return_predecessors=False)
        found.append([sets[i] for i in order])
    return found


def _blocks(sets: list[frozenset[int]]) -> list[set[int]] | None:
    """The ordered partition of the sets' union that makes every set a run of blocks; None if there is none."""
    blocks: list[set[int]] = [set(sets[0])]
    for one in sets[1:]:
        touched = [i for i, block in enumerate(blocks) if block & one]
        first, last = touched[0], touched[-1]
        if len(touched) != last - first + 1 or any(not blocks[i] <= one for i in touched[1:-1]):
            return None
        outside = set(one).difference(*blocks)
        if outside:
            to_the_right = last == len(blocks) - 1 and (last == first or blocks[last] <= one)
            if len(blocks) > 1 and first == last and not blocks[first] <= one and first == 0:
                to_the_right = False
            if not to_the_right and (first != 0 or (last != first and not blocks[0] <= one)):
                return None
        left, right = blocks[first], blocks[last]
        if first == last:
            inside, rest = left & one, left - one
            if rest:
                if not outside:
                    return None
                pieces = [rest, inside] if to_the_right else [inside, rest]
            else:
                pieces = [inside]
        else:
            pieces = [left - one, left & one, *blocks[first + 1 : last], right & one, right - one]
        blocks[first : last + 1] = [piece for piece in pieces if piece]
        if outside:
            blocks.insert(len(blocks) if to_the_right else 0, outside)
    return blocks


def shifts(
    order: NDArray[np.int64],
    sets: Sequence[NDArray[np.int64]],
    point: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The moves (atoms, ±1) that shift one group of prefix sums by 1, and together reach every database that fits.

    Prefix sums whose difference is known move together: the two ends of a known range, and the ends of atoms that can
    have only one sum. The latter are found at any ``point`` that fits: an atom at its greatest sum lets its right end
    rise only with its left end, at its least the left only with the right; prefix sums on a cycle of such ties are tied
    for good.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count = len(order)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    ends = [(int(place[one].min()), int(place[one].max()) + 1) for one in sets]
    known = csr_array(
        (np.ones(len(ends)), ([a for a, _ in ends], [b for _, b in ends])), shape=(count + 1, count + 1)
    )
    groups, group = connected_components(known, directed=False)
    before, after = group[:-1], group[1:]
    top, bottom = point[order] == high[order], point[order] == low[order]
    ties = csr_array(
        (
            np.ones(int(top.sum() + bottom.sum())),
            (np.concatenate([after[top], before[bottom]]), np.concatenate([before[top], after[bottom]])),
        ),
        shape=(groups, groups),
    )
    groups, merged = connected_components(ties, directed=True, connection="strong")
    group = merged[group]
    before, after = group[:-1], group[1:]
    moving = np.flatnonzero(before != after)
    found: list[tuple[list[int], list[int]]] = [([], []) for _ in range(groups)]
    for where in moving.tolist():
        found[after[where]][0].append(int(order[where]))
        found[after[where]][1].append(1)
        found[before[where]][0].append(int(order[where]))
        found[before[where]][1].append(-1)
    return [(np.array(a, dtype=np.int64), np.array(c, dtype=np.int64)) for a, c in found if a]
