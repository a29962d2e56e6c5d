"""The moves of a Gibbs chain over atom sums: they keep every known sum as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.integer_solutions import integer_solutions
from equivoc.systems.posteriors.components import Component
from equivoc.systems.runs import membership, one_key_order, shifts

# Short moves of a large component: lattice bases of small neighbourhoods of atoms.
#
# A basis of all moves is long: its moves change hundreds of sums at once and hardly ever fit between the
# limits. Atoms that are in nearly the same known sums have short moves among themselves.

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


# Moves that keep all answered sums: shifts of a few atoms' sums, the steps of the chain over databases.
#
# For ranges of one key they are shifts of prefix sums. For other sets: pairs of neighbouring atoms that
# differ in the same sums (any pairs, for atoms that few of these use), and a lattice basis with sums and
# differences of its vectors: of all moves where atoms are few, otherwise of the moves near each atom that has
# too few. Missing moves make the chain's figures too small, so that a question is rather refused.

LARGEST_STEP = 6
_MOST_LATTICE_ATOMS = 200
_MOST_PAIRS_PER_DIFFERENCE = 64
_MOST_COMBINED = 40
_SHORTEST_COMBINED = 3
_ENOUGH_MOVES = 8
_MOST_PAIRED_ATOMS = 1_400
_MOST_RARE_ATOMS = 500
_NEIGHBOURHOODS = ((150, 3), (400, 1))
"""Among how many nearest atoms moves are looked for, for atoms that fewer moves than the second number use."""
_MOST_NEIGHBOURHOODS = 60
"""Of each size, for one decision; atoms that get no move by then make the question be refused."""
_MOST_STILL_ATOMS = 1_000
"""More atoms without moves than these: not worth the time, and the question is refused."""


@dataclass(frozen=True, eq=False)
class SumMoves:
    """Atoms of the answered sums, and moves among them."""

    atom: NDArray[np.int64] = field(repr=False)
    """The atom of each person."""
    free: NDArray[np.bool_] = field(repr=False)
    """Which atoms are in no sum."""
    moves: tuple[Move, ...] = field(repr=False)

    def still(self) -> NDArray[np.int64]:
        """The people whom no move changes: alone in an atom that is in a sum, and in no move."""
        moving = self.free | (np.bincount(self.atom, minlength=len(self.free)) > 1)
        for atoms, _ in self.moves:
            moving[atoms] = True
        return np.flatnonzero(~moving[self.atom])


class Orders(Protocol):
    """Orders of the people by their keys."""

    codes: dict[str, NDArray[np.int64]]
    """The level of each person, for each key."""

    def neighbours(self, atom: NDArray[np.int64]) -> NDArray[np.int64]:
        """Pairs of people of different atoms who are next to each other in some key."""


def sum_moves(
    sets: Sequence[NDArray[np.int64]],
    ranges: Sequence[dict[str, tuple[int, int]]],
    orders: Orders,
    *,
    label: NDArray[np.int64],
) -> SumMoves:
    """Moves that keep the sums over ``sets``.

    ``ranges`` has the keys of which each set is a range, ``label`` the atom of each person.
    """
    if not sets:
        return SumMoves(np.zeros(len(label), dtype=np.int64), np.ones(1, dtype=bool), ())
    for key in orders.codes:
        if all(key in each for each in ranges):
            return _one_key(orders.codes[key], [each[key] for each in ranges])
    free = np.ones(int(label.max()) + 1, dtype=bool)
    for members in sets:
        free[label[members]] = False
    sign = _signs(sets, label)
    found = _Collected(len(free))
    for steps in _differences(sign, label[orders.neighbours(label)]):
        found.add(steps)
    for steps in _lattice(sets, label, len(free)):
        found.add(steps)
    rare = np.flatnonzero((found.uses < _ENOUGH_MOVES) & ~free)
    if rare.size:
        for steps in _for_rare_atoms(sign, rare):
            found.add(steps)
    if len(free) > _MOST_LATTICE_ATOMS:
        for steps in _near_still_atoms(sets, label, found, free):
            found.add(steps)
    return SumMoves(label, free, found.moves())


class _Collected:
    """Different moves, and how many use each atom."""

    def __init__(self, atoms: int) -> None:
        self._found: dict[tuple[tuple[int, int], ...], None] = {}
        self.uses = np.zeros(atoms, dtype=np.int64)

    def add(self, steps: dict[int, int]) -> None:
        key = tuple(sorted(steps.items()))
        opposite = tuple((atom, -step) for atom, step in key)
        if key and key not in self._found and opposite not in self._found:
            self._found[key] = None
            self.uses[[atom for atom, _ in key]] += 1

    def moves(self) -> tuple[Move, ...]:
        return tuple(
            (np.array([atom for atom, _ in key]), np.array([step for _, step in key])) for key in self._found
        )


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


def _signs(sets: Sequence[NDArray[np.int64]], label: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for each atom, the sum of random marks of the sums it is in: equal differences, equal sums."""
    marks = np.random.default_rng(len(sets)).integers(0, 1 << 63, size=len(sets), dtype=np.uint64)
    sign = np.zeros(len(label), dtype=np.uint64)
    for members, mark in zip(sets, marks, strict=True):
        sign[members] += mark  # wraps around
    found = np.zeros(int(label.max()) + 1, dtype=np.uint64)
    found[label] = sign
    return found


def _differences(sign: NDArray[np.uint64], neighbours: NDArray[np.int64]) -> Iterator[dict[int, int]]:
    """Two pairs of neighbours that differ in the same sums: one pair takes what the other gives."""
    pairs = np.unique(np.concatenate([neighbours, neighbours[:, ::-1]]), axis=0)
    difference = sign[pairs[:, 0]] - sign[pairs[:, 1]]
    order = np.argsort(difference, kind="stable")
    ends = np.flatnonzero(np.diff(difference[order])) + 1
    for same in np.split(order, ends):
        for one, other in pairwise(same[:_MOST_PAIRS_PER_DIFFERENCE]):
            yield _exchange(*pairs[one].tolist(), *pairs[other].tolist())


def _for_rare_atoms(sign: NDArray[np.uint64], rare: NDArray[np.int64]) -> Iterator[dict[int, int]]:
    """More such pairs for atoms that few moves use, among all pairs of at most some 1,400 atoms."""
    rng = np.random.default_rng(len(sign))
    some = rng.permutation(len(sign))[:_MOST_PAIRED_ATOMS]
    some = some[np.argsort(sign[some], kind="stable")]
    known = (sign[some][:, None] - sign[some][None, :]).reshape(-1)
    order = np.argsort(known, kind="stable")
    known = known[order]
    for atom in rare[:_MOST_RARE_ATOMS].tolist():
        # Ascending but for one wrap-around, which makes the searches several times faster.
        wanted = sign[atom] - sign[some][::-1]
        first = np.searchsorted(known, wanted)
        there = np.flatnonzero((known[np.minimum(first, len(known) - 1)] == wanted) & (some[::-1] != atom))
        chosen = rng.permutation(there)[: 4 * _ENOUGH_MOVES]
        last = np.searchsorted(known, wanted[chosen], side="right")
        for place, end in zip(chosen.tolist(), last.tolist(), strict=True):
            partner = int(some[len(some) - 1 - place])
            match = int(order[rng.integers(first[place], end)])
            one, other = int(some[match // len(some)]), int(some[match % len(some)])
            if (one, other) != (atom, partner):
                yield _exchange(atom, partner, one, other)


def _near_still_atoms(
    sets: Sequence[NDArray[np.int64]], label: NDArray[np.int64], found: _Collected, free: NDArray[np.bool_]
) -> Iterator[dict[int, int]]:
    """Moves of atoms that have too few: lattice bases of the atoms that are in nearly the same sums."""
    if np.count_nonzero((found.uses == 0) & ~free) > _MOST_STILL_ATOMS:
        return
    inside = np.zeros((len(sets), len(free)), dtype=np.float32)
    for row, members in zip(inside, sets, strict=True):
        row[label[members]] = 1
    size = inside.sum(axis=0)
    for neighbours, enough in _NEIGHBOURHOODS:
        tried = free.copy()
        for _ in range(_MOST_NEIGHBOURHOODS):
            still = np.flatnonzero((found.uses < enough) & ~tried)
            if not still.size:
                break
            atom = int(still[0])
            tried[atom] = True
            # The number of sums that hold one of two atoms but not the other.
            distance = size + size[atom] - 2 * (inside[:, atom] @ inside)
            near = np.sort(np.argsort(distance, kind="stable")[:neighbours])
            for atoms, steps in neighbourhood_moves(inside[:, near]):
                move = dict(zip(near[atoms].tolist(), steps.tolist(), strict=True))
                if _small(move):
                    yield move


def _exchange(one: int, other: int, third: int, fourth: int) -> dict[int, int]:
    """The steps +1, −1, −1, +1 of these atoms; atoms may repeat."""
    steps: dict[int, int] = {}
    for atom, step in ((one, 1), (other, -1), (third, -1), (fourth, 1)):
        steps[atom] = steps.get(atom, 0) + step
    return {atom: step for atom, step in sorted(steps.items()) if step}


def _lattice(
    sets: Sequence[NDArray[np.int64]], label: NDArray[np.int64], atoms: int
) -> Iterator[dict[int, int]]:
    """A lattice basis of all moves, shortened; nothing if the atoms are too many."""

    if atoms > _MOST_LATTICE_ATOMS:
        return
    matrix = np.zeros((len(sets), atoms), dtype=np.int64)
    for row, members in zip(matrix, sets, strict=True):
        row[label[members]] = 1
    try:
        solved = integer_solutions(matrix, np.zeros(len(sets), dtype=np.int64))
    except OverflowError:
        return
    if solved is None:
        return
    basis = shorter(np.asarray(solved.moves.toarray()))
    for vector in (*basis, *_combined(basis)):  # a basis alone can leave databases unreached
        steps = {int(a): int(vector[a]) for a in np.flatnonzero(vector)}
        if _small(steps):
            yield steps


def _combined(basis: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Sums and differences of pairs of vectors that share an atom; of many vectors, the shortest few of each."""
    products = basis @ basis.T
    norms = np.diag(products)
    touching = (basis != 0).astype(np.int64) @ (basis != 0).T > 0
    few = len(basis) if len(basis) <= _MOST_COMBINED else _SHORTEST_COMBINED
    for one in range(len(basis)):
        length = norms + norms[one] - 2 * np.abs(products[one])
        others = np.flatnonzero(touching[one])
        others = others[(others > one) | (few < len(basis)) & (others != one)]
        for other in others[np.argsort(length[others], kind="stable")[:few]].tolist():
            if few == len(basis) or products[one, other] <= 0:
                yield basis[one] + basis[other]
            if few == len(basis) or products[one, other] > 0:
                yield basis[one] - basis[other]


def _small(steps: dict[int, int]) -> bool:
    return all(abs(step) <= LARGEST_STEP for step in steps.values())
