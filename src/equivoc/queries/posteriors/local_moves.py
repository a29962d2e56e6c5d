"""Short moves of a large component: lattice bases of small neighbourhoods of atoms.

A basis of all moves is long: its moves change hundreds of sums at once and hardly ever fit between the limits. Atoms
that are in nearly the same known sums have short moves among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.posteriors.integer_solutions import integer_solutions
from equivoc.queries.posteriors.set_overlaps import membership

# Atoms that no move changes are tried again among more neighbours.
_NEIGHBOURS = (150, 400)
# The nearest of them count as covered; every atom is covered at least once.
_COVERED = 12
_MOST_REDUCTIONS = 10


def local_moves(
    sets: Sequence[NDArray[np.int64]], atoms: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Moves (atoms, steps) that keep the sum of every set.

    >>> sets = [np.array([0, 1]), np.array([2, 3]), np.array([0, 2]), np.array([1, 3])]
    >>> [(a.tolist(), s.tolist()) for a, s in local_moves(sets, 4)]
    [([0, 1, 2, 3], [1, -1, -1, 1])]
    """
    dense = membership(sets, atoms).toarray().astype(np.float32)
    size = dense.sum(axis=0)
    moved = np.zeros(atoms, dtype=bool)
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
    for neighbours in _NEIGHBOURS:
        waiting = ~moved
        while waiting.any():
            seed = int(np.argmax(waiting))
            # The number of sets that hold one of two atoms but not the other.
            distance = size + size[seed] - 2 * (dense[:, seed] @ dense)
            near = np.argsort(distance, kind="stable")[:neighbours]
            waiting[near[:_COVERED]] = False
            waiting[seed] = False
            near = np.sort(near)
            for names, steps in neighbourhood_moves(dense[:, near]):
                found[tuple(near[names].tolist()), tuple(steps.tolist())] = None
                moved[near[names]] = True
    return [(np.array(a, dtype=np.int64), np.array(s, dtype=np.int64)) for a, s in found]


def neighbourhood_moves(columns: NDArray[np.float32]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Moves among some atoms: ``columns`` has 1 where a known sum (row) holds an atom."""
    inside = np.unique(columns.astype(np.int64), axis=0)
    try:
        solved = integer_solutions(inside, np.zeros(len(inside), dtype=np.int64))
    except OverflowError:
        return []
    if solved is None:
        return []
    found = []
    for move in shorter(solved.moves.toarray()):
        used = np.flatnonzero(move)
        if len(used):
            found.append((used, move[used] if move[used[0]] > 0 else -move[used]))
    return found


def shorter(basis: NDArray[np.int64]) -> NDArray[np.int64]:
    """Subtract basis vectors from each other while that shortens them: the lattice stays the same.

    >>> shorter(np.array([[1, -1, 0], [5, -4, -1]])).tolist()
    [[1, -1, 0], [1, 0, -1]]
    """
    basis = basis.copy()
    for _ in range(_MOST_REDUCTIONS):
        changed = False
        for i in range(len(basis)):
            products = basis @ basis[i]
            norm = products[i]
            if norm == 0:
                continue
            times = np.rint(products / norm).astype(np.int64)
            times[i] = 0
            if times.any():
                basis -= times[:, None] * basis[i]
                changed = True
        if not changed:
            break
    return basis
