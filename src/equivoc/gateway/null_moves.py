"""Moves that keep all answered sums: shifts of a few atoms' sums, the steps of the chain over databases.

For ranges of one key they are shifts of prefix sums. For other sets: pairs of neighbouring atoms that differ in the
same sums (any pairs, for atoms that few of these use), and a lattice basis with sums and differences of its vectors: of
all moves where atoms are few, otherwise of the moves near each atom that has too few. Missing moves make the chain's
figures too small, so that a question is rather refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata

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

    def still(self) -> NDArray[np.int64]:
        """The people whom no move changes: alone in an atom that is in a sum, and in no move."""
        moving = self.free | (np.bincount(self.atom, minlength=len(self.free)) > 1)
        for atoms, _ in self.moves:
            moving[atoms] = True
        return np.flatnonzero(~moving[self.atom])


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
    from equivoc.queries.posteriors.local_moves import neighbourhood_moves

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
    from equivoc.queries.posteriors.integer_solutions import integer_solutions
    from equivoc.queries.posteriors.local_moves import shorter

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
