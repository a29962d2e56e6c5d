"""The moves of a Gibbs chain over atom sums: they keep every known sum as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.posteriors.components import Component
from equivoc.queries.posteriors.integer_solutions import integer_solutions
from equivoc.queries.posteriors.local_moves import local_moves, shorter
from equivoc.queries.posteriors.one_key import one_key_order, shifts

Move = tuple[NDArray[np.int64], NDArray[np.int64]]
_MOST_MATRIX_ENTRIES = 3e7
_MOST_PAIRS = 4_000
_MOST_REDUCED = 300
_MOST_CHANGED = 40


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves as (atoms, steps)."""

    moves: list[Move] = field(repr=False)
    reach_everything: bool
    """Proved: from any sums that fit, the moves lead to all others (if every sum within the limits is possible)."""


def component_order(component: Component) -> NDArray[np.int64] | None:
    """An order of the atoms in which every answered query set is a run; None if there is none."""
    return one_key_order(component.asked, len(component.atoms)) if component.asked else None


def component_moves(
    component: Component, point: NDArray[np.int64], order: NDArray[np.int64] | None, *, seed: int
) -> Moves | None:
    """Shifts of prefix sums for ranges of one key; otherwise a lattice basis with sums and differences of its pairs,
    or for large components the bases of small neighbourhoods.

    None if the equations are too many to solve.
    """
    if order is not None:
        return Moves(shifts(order, component.asked, point, component.low, component.high), True)
    rows, atoms = len(component.rows), len(component.atoms)
    if rows * atoms > _MOST_MATRIX_ENTRIES:
        return None
    if rows == 0:
        moving = np.flatnonzero(component.low < component.high)
        return Moves([(moving[i : i + 1], np.ones(1, dtype=np.int64)) for i in range(len(moving))], True)
    matrix = np.zeros((rows, atoms), dtype=np.int64)
    for r, row in enumerate(component.rows):
        matrix[r, row] = 1
    try:
        solved = integer_solutions(matrix, np.array(component.totals, dtype=np.int64))
    except OverflowError:
        return None
    if solved is None:
        return None
    basis = solved.moves
    unknown = component.low < component.high
    if basis.shape[0] <= _MOST_REDUCED:
        vectors = shorter(basis.toarray()[:, unknown])
        moves = _with_pairs(vectors, np.flatnonzero(unknown), seed)
    else:
        moves = local_moves(component.rows, atoms) + _short_ones(basis)
    return Moves(moves, False)


def _with_pairs(basis: NDArray[np.int64], names: NDArray[np.int64], seed: int) -> list[Move]:
    """The basis, and the sums and differences of pairs that share an atom."""
    pairs = [
        (i, j)
        for i in range(len(basis))
        for j in range(i + 1, len(basis))
        if ((basis[i] != 0) & (basis[j] != 0)).any()
    ]
    if len(pairs) > _MOST_PAIRS:
        chosen = np.random.default_rng(seed).choice(len(pairs), _MOST_PAIRS, replace=False)
        pairs = [pairs[c] for c in np.sort(chosen)]
    vectors = [*basis, *(basis[i] + basis[j] for i, j in pairs), *(basis[i] - basis[j] for i, j in pairs)]
    found = dict.fromkeys(tuple(v.tolist()) for v in vectors if v.any())
    result = []
    for vector in found:
        entries = np.array(vector, dtype=np.int64)
        result.append((names[entries != 0], entries[entries != 0]))
    return result


def _short_ones(basis: Any) -> list[Move]:
    """The moves of the basis that change few sums."""
    found = []
    for start, stop in zip(basis.indptr[:-1], basis.indptr[1:], strict=True):
        used = basis.data[start:stop] != 0
        if 0 < used.sum() <= _MOST_CHANGED:
            found.append((basis.indices[start:stop][used].astype(np.int64), basis.data[start:stop][used]))
    return found
