"""Moves that keep all answered sums: shifts of a few atoms' sums, the steps of the chain over databases.

For ranges of one key they are shifts of prefix sums. For other sets: pairs of neighbouring atoms that differ in the
same sums, and, where the sums are few, the solutions that belong to single free atoms, with sums and differences of
these. Missing moves make the chain's figures too small, so that a question is rather refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata

LARGEST_STEP = 6
_LONGEST_MOVE = 64
MOST_ENTRIES = 2_000_000
"""Entries of reduced rows up to which solutions of single atoms are used."""
_MOST_PAIRS_PER_DIFFERENCE = 64
_MOST_COMBINED = 40
Move = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Atoms, and the step of each."""


@dataclass(frozen=True, eq=False)
class SumMoves:
    """Atoms of the answered sums, and moves among them."""

    atom: NDArray[np.int64] = field(repr=False)
    """The atom of each person."""
    free: NDArray[np.bool_] = field(repr=False)
    """Which atoms are in no sum."""
    moves: tuple[Move, ...] = field(repr=False)


class KeyOrders:
    """Orders of the people by their keys: which sets are ranges of one key, and who are neighbours."""

    def __init__(self, people: Microdata) -> None:
        self._people = len(people)
        self.codes = {key: people.key_codes(key).astype(np.int64) for key in people.keys}
        self._before = {
            key: np.concatenate([[0], np.cumsum(np.bincount(codes))]) for key, codes in self.codes.items()
        }

    def ranges(self, members: NDArray[np.int64]) -> dict[str, tuple[int, int]]:
        """The keys of which the set is a range of codes: from the first to before the second."""
        found = {}
        for key, codes in self.codes.items():
            own = codes[members]
            low, high = int(own.min()), int(own.max()) + 1
            if self._before[key][high] - self._before[key][low] == len(members):
                found[key] = (low, high)
        return found

    def neighbours(self, atom: NDArray[np.int64]) -> NDArray[np.int64]:
        """Pairs of people of different atoms who are next to each other in some key, the other keys being equal or
        near."""
        pairs = []
        for key in self.codes:
            others = [codes for name, codes in self.codes.items() if name != key]
            order = np.lexsort((self.codes[key], *others))
            pair = np.column_stack([order[:-1], order[1:]])
            pairs.append(pair[atom[pair[:, 0]] != atom[pair[:, 1]]])
        return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)


def sum_moves(
    sets: Sequence[NDArray[np.int64]],
    ranges: Sequence[dict[str, tuple[int, int]]],
    orders: KeyOrders,
    *,
    label: NDArray[np.int64],
    reduced: Callable[[], tuple[NDArray[np.int64], Sequence[int], int] | None],
) -> SumMoves:
    """Moves that keep the sums over ``sets``.

    ``ranges`` has the keys of which each set is a range, ``label`` the atom of each person, and ``reduced`` gives the
    reduced rows over atoms, their pivots and their prime, or None if they are too large.
    """
    if not sets:
        return SumMoves(np.zeros(len(label), dtype=np.int64), np.ones(1, dtype=bool), ())
    for key in orders.codes:
        if all(key in each for each in ranges):
            return _one_key(orders.codes[key], [each[key] for each in ranges])
    free = np.ones(int(label.max()) + 1, dtype=bool)
    for members in sets:
        free[label[members]] = False
    moves = {
        tuple(zip(*map(np.ndarray.tolist, move), strict=True)): move
        for move in _differences(sets, orders, label)
    }
    rows = reduced()
    if rows is not None:
        for move in _fundamental(*rows):
            moves.setdefault(tuple(zip(*map(np.ndarray.tolist, move), strict=True)), move)
    return SumMoves(label, free, tuple(moves.values()))


def _one_key(codes: NDArray[np.int64], ranges: Sequence[tuple[int, int]]) -> SumMoves:
    """Prefix sums whose difference is an answer move together; each such group is a move of the atoms at its places."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    last = int(codes.max()) + 1
    cuts = np.unique(np.array([0, last, *(end for each in ranges for end in each)]))
    ends = np.searchsorted(cuts, np.array(ranges))
    linked = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(cuts), len(cuts)))
    groups, group = connected_components(linked, directed=False)
    before, after = group[:-1], group[1:]
    found: list[tuple[list[int], list[int]]] = [([], []) for _ in range(groups)]
    for atom in np.flatnonzero(before != after).tolist():
        for name, step in ((int(after[atom]), 1), (int(before[atom]), -1)):
            found[name][0].append(atom)
            found[name][1].append(step)
    depth = np.zeros(len(cuts), dtype=np.int64)
    np.add.at(depth, ends[:, 0], 1)
    np.add.at(depth, ends[:, 1], -1)
    return SumMoves(
        np.searchsorted(cuts, codes, side="right") - 1,
        np.cumsum(depth)[:-1] == 0,
        tuple((np.array(a), np.array(s)) for a, s in found if a),
    )


def _differences(
    sets: Sequence[NDArray[np.int64]], orders: KeyOrders, label: NDArray[np.int64]
) -> list[Move]:
    """Two pairs of neighbours that differ in the same sums: one pair takes what the other gives."""
    marks = np.random.default_rng(len(sets)).integers(0, 1 << 63, size=len(sets), dtype=np.uint64)
    sign = np.zeros(len(label), dtype=np.uint64)
    for members, mark in zip(sets, marks, strict=True):
        sign[members] += mark  # wraps around
    pairs = orders.neighbours(label)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    atoms = label[both]
    _, first = np.unique(atoms, axis=0, return_index=True)
    both, atoms = both[first], atoms[first]
    difference = sign[both[:, 0]] - sign[both[:, 1]]
    order = np.argsort(difference, kind="stable")
    found: list[Move] = []
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and difference[order[end]] == difference[order[begin]]:
            end += 1
        same = order[begin:end][:_MOST_PAIRS_PER_DIFFERENCE]
        for one, other in pairwise(same):
            steps: dict[int, int] = {}
            for atom, step in zip((*atoms[one], *atoms[other]), (1, -1, -1, 1), strict=True):
                steps[int(atom)] = steps.get(int(atom), 0) + step
            kept = {atom: step for atom, step in steps.items() if step}
            if kept:
                found.append((np.array(list(kept)), np.array(list(kept.values()))))
        begin = end
    return found


def _fundamental(rows: NDArray[np.int64], pivots: Sequence[int], prime: int) -> list[Move]:
    """For each atom without a pivot, the solution in which it alone of them moves; those with small whole steps."""
    others = np.setdiff1d(np.arange(rows.shape[1]), pivots)
    where = np.array(pivots, dtype=np.int64)
    found = []
    for atom in others.tolist():
        column = rows[:, atom]
        used = np.flatnonzero(column)
        if len(used) >= _LONGEST_MOVE:
            continue
        for times in range(1, LARGEST_STEP + 1):
            entries = [int(times * int(value) % prime) for value in column[used]]
            steps = [value - prime if value > prime // 2 else value for value in entries]
            if all(abs(step) <= LARGEST_STEP for step in steps):
                found.append((np.array([atom, *where[used]]), np.array([times, *(-step for step in steps)])))
                break
    return found + _sums_and_differences(found)


def _sums_and_differences(moves: Sequence[Move]) -> list[Move]:
    """Of pairs of moves that share an atom, if the moves are few: a basis alone can leave databases unreached."""
    if len(moves) > _MOST_COMBINED:
        return []
    found = []
    for (atoms, steps), (others, other_steps) in combinations(moves, 2):
        if not np.intersect1d(atoms, others).size:
            continue
        for sign in (1, -1):
            total = dict(zip(atoms.tolist(), steps.tolist(), strict=True))
            for atom, step in zip(others.tolist(), other_steps.tolist(), strict=True):
                total[atom] = total.get(atom, 0) + sign * step
            kept = {atom: step for atom, step in total.items() if step}
            if kept:
                found.append((np.array(list(kept)), np.array(list(kept.values()))))
    return found
