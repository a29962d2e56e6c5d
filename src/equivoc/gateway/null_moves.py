"""Moves that keep all answered sums: shifts of a few atoms' sums, the steps of the chain over databases.

For ranges of one key they are shifts of prefix sums. For other sets: pairs of neighbouring atoms that differ in the
same sums (any pairs, for atoms that few of these use), and, where atoms and sums are few, a lattice basis of all moves
with sums and differences of its vectors. Missing moves make the chain's figures too small, so that a question is rather
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata

LARGEST_STEP = 6
_MOST_LATTICE_ATOMS = 600
_MOST_LATTICE_ENTRIES = 60_000
_MOST_ROUNDS = 30
_MOST_PAIRS_PER_DIFFERENCE = 64
_MOST_COMBINED = 40
_ENOUGH_MOVES = 8
_MOST_PAIRED_ATOMS = 1_400
_MOST_RARE_ATOMS = 500
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


def _exchange(one: int, other: int, third: int, fourth: int) -> dict[int, int]:
    """The steps +1, −1, −1, +1 of these atoms; atoms may repeat."""
    steps: dict[int, int] = {}
    for atom, step in ((one, 1), (other, -1), (third, -1), (fourth, 1)):
        steps[atom] = steps.get(atom, 0) + step
    return {atom: step for atom, step in sorted(steps.items()) if step}


def _lattice(
    sets: Sequence[NDArray[np.int64]], label: NDArray[np.int64], atoms: int
) -> Iterator[dict[int, int]]:
    """A lattice basis of all moves, shortened; nothing if atoms or sums are too many."""
    from equivoc.queries.posteriors.integer_solutions import integer_solutions

    if atoms > _MOST_LATTICE_ATOMS or atoms * len(sets) > _MOST_LATTICE_ENTRIES:
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
    basis = _shorter(np.asarray(solved.moves.toarray()))
    found = [{int(a): int(vector[a]) for a in np.flatnonzero(vector)} for vector in basis]
    yield from (steps for steps in found if _small(steps))
    if len(found) <= _MOST_COMBINED:  # a basis alone can leave databases unreached
        for one, other in combinations(found, 2):
            if one.keys() & other.keys():
                for sign in (1, -1):
                    total = {a: one.get(a, 0) + sign * other.get(a, 0) for a in one.keys() | other.keys()}
                    kept = {a: step for a, step in total.items() if step}
                    if _small(kept):
                        yield kept


def _shorter(basis: NDArray[np.int64]) -> NDArray[np.int64]:
    """Subtract vectors from each other as long as that shortens them; the lattice stays the same."""
    found = basis.astype(np.float64)  # whole numbers far below 2^53: exact
    products = found @ found.T
    for _ in range(_MOST_ROUNDS):
        changed = False
        for one in range(len(found)):
            if products[one, one] == 0:
                continue
            times = np.rint(products[one] / products[one, one])
            times[one] = 0
            others = np.flatnonzero(times)
            if others.size:
                found[others] -= times[others, None] * found[one]
                products[others] = found[others] @ found.T
                products[:, others] = products[others].T
                changed = True
        if not changed:
            break
    return found.astype(np.int64)


def _small(steps: dict[int, int]) -> bool:
    return all(abs(step) <= LARGEST_STEP for step in steps.values())
