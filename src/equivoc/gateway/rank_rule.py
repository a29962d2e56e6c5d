"""The rank rule: no sum over fewer than k people may follow from the answered sums.

**Claim.** Let R be the 0/1 rows of the answered sums (rows × people). The sum over a set S of people follows from the
answers, whatever they are, iff its indicator 1_S lies in the row space of R over the rationals. If the rule answers,
no set of 1 … k − 1 people has that property, except with a probability below 2^−36 (1,000 answered sums) or 2^−29
(100,000) over the choice of the prime.

*Atoms.* People in the same query sets have equal columns in R, so a vector of the row space is constant on atoms: S is
a union of atoms, and columns of atoms suffice.

*A prime.* Rows are reduced modulo a prime p, 2^49 < p < 2^50. If the rank of R modulo p is its rational rank, then 1_S
in the rational row space gives rank_p [R; 1_S] ≤ rank [R; 1_S] = rank R = rank_p R, so 1_S lies in the row space modulo
p too: nothing is missed. The rank falls only if p divides a particular minor of R that is not 0. By Hadamard a minor of
r rows of 0 and 1 is at most r^(r/2); at most r·log2(r)/98 primes above 2^49 divide it, 102 for r = 1,000, of more than
2^43 such primes. The prime is drawn once for each store and kept secret, because an analyst who knew it could build a
minor that it divides. Rows that were answered earlier are among those of R, so this holds for a whole history at once.

*A random vector.* Let x be any solution of R·x = 0 modulo p. If 1_S is in the row space modulo p, then Σ_S x = 0: a
search for unions of atoms with Σ x = 0 misses none. If it is not, a random solution gives 0 with probability 1/p: a
false alarm, which refuses.

*Large atoms.* An atom of k or more people is in no S. Pivots are placed in such atoms where possible. A vector of the
row space is the sum of the reduced rows times its entries in their pivots; S has none in large atoms, so 1_S is a sum
of the rows whose pivot lies in a small atom, and these are 0 in all large atoms. Only atoms in their support are
searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["safe", "known", "work"]
"""Nothing becomes known; a sum of fewer than k people would be known; the search takes more than the allowed work."""
BITS = 50
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
"""Bases for which Miller and Rabin's test decides every number below 2^64."""
_LARGEST_TABLE = 20_000_000


@dataclass(frozen=True, eq=False)
class Trial:
    """Questions that were judged: their effect on the known sums, if they are answered."""

    verdict: Verdict
    new: bool
    """True if the answers do not all follow from earlier ones."""
    label: NDArray[np.int64]
    """The atom of each person, if they are answered."""
    parent: NDArray[np.int64]
    """The present atom of which each new atom is a part."""
    rows: NDArray[np.int64]
    """The reduced new rows over the new atoms."""
    pivots: tuple[int, ...]


class KnownSums:
    """What sums follow from those answered so far: their rows, reduced modulo a secret prime.

    >>> known = KnownSums(people=6, least_people=3, prime=secret_prime(7))
    >>> known.answer(known.trial([np.array([0, 1, 2])], seed=1, work=10**6))
    >>> known.trial([np.array([0, 1, 2, 3])], seed=2, work=10**6).verdict
    'known'
    >>> known.trial([np.array([3, 4, 5])], seed=2, work=10**6).verdict
    'safe'
    """

    def __init__(self, *, people: int, least_people: int, prime: int) -> None:
        self.least_people = least_people
        self._prime = prime
        self._label = np.zeros(people, dtype=np.int64)
        self._atoms = 1
        self._matrix = np.zeros((8, 64), dtype=np.int64)
        self._pivots: list[int] = []

    @property
    def rank(self) -> int:
        """How many of the answered sums do not follow from others."""
        return len(self._pivots)

    @property
    def atoms(self) -> int:
        """Into how many atoms the answered sums divide the people."""
        return self._atoms

    @property
    def label(self) -> NDArray[np.int64]:
        """The atom of each person."""
        return self._label

    def follows(self, members: NDArray[np.int64]) -> bool:
        """True if the sum over these people follows from the answered ones."""
        label, parent, inside = self._split([members])
        reduced = self._reduced(inside[0], parent, self._places(label, parent))
        return not reduced.any()

    def add(self, sets: Sequence[NDArray[np.int64]]) -> None:
        """Take sums as answered without judging them."""
        self.answer(self.trial(sets, seed=0, work=None))

    def trial(self, sets: Sequence[NDArray[np.int64]], *, seed: int, work: int | None) -> Trial:
        """Judge questions that are answered together; nothing is changed but the choice of pivots.

        ``work``: the most operations; None: do not judge.
        """
        from equivoc.gateway.rank_kernels import support

        label, parent, inside = self._split(sets)
        atoms = len(parent)
        sizes = np.bincount(label, minlength=atoms)
        cost = (len(sets) + 2) * (self.rank + len(sets)) * atoms
        if work is not None and cost > work:
            return Trial("work", True, label, parent, np.zeros((0, atoms), dtype=np.int64), ())
        big = sizes >= self.least_people
        self._move_pivots(np.bincount(parent, weights=big, minlength=self._atoms) > 0)
        places = self._places(label, parent)
        rows, pivots = self._new_rows(inside, parent, places, big)
        if not pivots or work is None:
            return Trial("safe", bool(pivots), label, parent, rows, tuple(pivots))
        inner = np.flatnonzero(~big[places])
        touched = support(self._matrix, inner, self._atoms)[parent]
        for row, pivot in zip(rows, pivots, strict=True):
            if not big[pivot]:
                touched |= row != 0
        found: Verdict = "safe"
        candidates = np.flatnonzero(touched & ~big)
        if candidates.size:
            numbers = self._null_vector(rows, pivots, parent, places, seed)
            found = _search(
                numbers[candidates], sizes[candidates], self.least_people - 1, self._prime, work - cost
            )
        return Trial(found, True, label, parent, rows, tuple(pivots))

    def answer(self, trial: Trial) -> None:
        """Take the questions of a trial, made at the present state, as answered."""
        from equivoc.gateway.rank_kernels import eliminate

        atoms, rank = len(trial.parent), self.rank
        if not trial.new:
            self._grow(rank, atoms, trial.parent)
            self._label, self._atoms = trial.label, atoms
            return
        places = self._places(trial.label, trial.parent)
        self._grow(rank + len(trial.pivots), atoms, trial.parent)
        for row, pivot in zip(trial.rows, trial.pivots, strict=True):
            eliminate(self._matrix, rank, atoms, pivot, row, -1, self._prime)
        self._matrix[rank : rank + len(trial.pivots), :atoms] = trial.rows
        self._pivots = [*places.tolist(), *trial.pivots]
        self._label, self._atoms = trial.label, atoms

    def _split(
        self, sets: Sequence[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The atoms after these sets: each person's, each one's present atom, and sets × atoms that are inside."""
        label, parent = self._label.copy(), np.arange(self._atoms)
        sizes = np.bincount(label, minlength=self._atoms)
        for members in sets:
            cut, place, count = np.unique(label[members], return_inverse=True, return_counts=True)
            partly = count < sizes[cut]
            new = np.full(len(cut), -1)
            new[partly] = len(parent) + np.arange(int(partly.sum()))
            moved = partly[place.reshape(-1)]
            label[members[moved]] = new[place.reshape(-1)[moved]]
            parent = np.concatenate([parent, parent[cut[partly]]])
            sizes = np.bincount(label, minlength=len(parent))
        inside = np.zeros((len(sets), len(parent)), dtype=np.bool_)
        for row, members in zip(inside, sets, strict=True):
            row[label[members]] = True
        return label, parent, inside

    def _places(self, label: NDArray[np.int64], parent: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the pivots lie among the new atoms: in the largest part of each one's present atom."""
        sizes = np.bincount(label, minlength=len(parent))
        order = np.lexsort(
            (-np.arange(len(parent)), sizes)
        )  # ascending size; of equal ones the first comes last
        largest = np.empty(self._atoms, dtype=np.int64)
        largest[parent[order]] = order
        return largest[np.array(self._pivots, dtype=np.int64)]

    def _move_pivots(self, big: NDArray[np.bool_]) -> None:
        """Exchange pivots in small atoms for large ones where their row allows it."""
        from equivoc.gateway.rank_kernels import eliminate, inverse_of, scale

        atoms, rank = self._atoms, self.rank
        for i, pivot in enumerate(self._pivots):
            if big[pivot]:
                continue
            row = self._matrix[i, :atoms]
            possible = np.flatnonzero(big & (row != 0))
            if possible.size:
                column = int(possible[0])
                scale(row, inverse_of(int(row[column]), self._prime), self._prime)
                eliminate(self._matrix, rank, atoms, column, row, i, self._prime)
                self._pivots[i] = column

    def _reduced(
        self, inside: NDArray[np.bool_], parent: NDArray[np.int64], places: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """One new row over the new atoms, with 0 in every pivot."""
        from equivoc.gateway.rank_kernels import sum_of_rows

        chosen = np.flatnonzero(inside[places])
        total = sum_of_rows(self._matrix, chosen, self._atoms, self._prime)[parent]
        return (inside.astype(np.int64) - total) % self._prime

    def _new_rows(
        self,
        inside: NDArray[np.bool_],
        parent: NDArray[np.int64],
        places: NDArray[np.int64],
        big: NDArray[np.bool_],
    ) -> tuple[NDArray[np.int64], list[int]]:
        """The new rows reduced by the present ones and by each other, and their pivots: in large atoms if possible."""
        from equivoc.gateway.rank_kernels import eliminate, inverse_of, scale

        rows = np.array([self._reduced(row, parent, places) for row in inside])
        atoms, kept = rows.shape[1], 0
        pivots: list[int] = []
        for i in range(len(rows)):
            row = rows[i].copy()
            for other, pivot in zip(rows[:kept], pivots, strict=True):
                if row[pivot]:
                    eliminate(row[None, :], 1, atoms, pivot, other, -1, self._prime)
            there = np.flatnonzero(row)
            if not there.size:
                continue
            large = there[big[there]]
            pivot = int(large[0] if large.size else there[0])
            scale(row, inverse_of(int(row[pivot]), self._prime), self._prime)
            eliminate(rows, kept, atoms, pivot, row, -1, self._prime)
            rows[kept] = row
            pivots.append(pivot)
            kept += 1
        return rows[:kept], pivots

    def _null_vector(
        self,
        rows: NDArray[np.int64],
        pivots: Sequence[int],
        parent: NDArray[np.int64],
        places: NDArray[np.int64],
        seed: int,
    ) -> NDArray[np.int64]:
        """A random solution x of all rows · x = 0, over the new atoms."""
        from equivoc.gateway.rank_kernels import fold, negative_products

        atoms = len(parent)
        found = np.random.default_rng(seed).integers(0, self._prime, size=atoms)
        found[places] = 0
        found[list(pivots)] = 0
        found[list(pivots)] = negative_products(rows, len(rows), atoms, found, self._prime)
        folded = fold(found, parent, self._atoms, self._prime)
        found[places] = negative_products(self._matrix, self.rank, self._atoms, folded, self._prime)
        return found

    def _grow(self, rows: int, atoms: int, parent: NDArray[np.int64]) -> None:
        """Give the matrix columns for the new atoms, equal to those of the atoms they were part of."""
        high, wide = self._matrix.shape
        if rows > high or atoms > wide:
            larger = np.zeros((max(high, 2 * rows), max(wide, 2 * atoms)), dtype=np.int64)
            larger[: self.rank, : self._atoms] = self._matrix[: self.rank, : self._atoms]
            self._matrix = larger
        self._matrix[: self.rank, self._atoms : atoms] = self._matrix[: self.rank, parent[self._atoms :]]


def _search(
    numbers: NDArray[np.int64], sizes: NDArray[np.int64], most_people: int, prime: int, work: int
) -> Verdict:
    """Look for a union of 1 … ``most_people`` people's atoms whose numbers sum to 0 modulo the prime.

    Such a union has at most most_people atoms: two halves from a sorted table of subsets, and one more if that is odd.
    """
    from math import comb

    from equivoc.gateway.rank_kernels import small_subsets, zero_sum

    half = most_people // 2
    entries = sum(comb(len(numbers), count) for count in range(half + 1))
    if entries > min(_LARGEST_TABLE, work):
        return "work"
    sums, people, atoms, count = small_subsets(numbers, sizes, half, most_people, prime, entries)
    order = np.argsort(sums[:count], kind="stable")
    sums, people, atoms = sums[order], people[order], atoms[order]
    left = work - entries
    if most_people % 2 == 0:
        found, left = zero_sum(sums, people, atoms, -1, 0, 0, most_people, prime, left)
        return "known" if found else "work" if left < 0 else "safe"
    for third in range(-1, len(numbers)):
        number, size = (0, 0) if third < 0 else (int(numbers[third]), int(sizes[third]))
        found, left = zero_sum(sums, people, atoms, third, number, size, most_people, prime, left)
        if found or left < 0:
            return "known" if found else "work"
    return "safe"


def secret_prime(seed: int) -> int:
    """A prime between 2^49 and 2^50, by a seed that nobody knows.

    >>> 2**49 < secret_prime(1) < 2**50, is_prime(secret_prime(1)), is_prime(2**49 + 1)
    (True, True, False)
    """
    rng = np.random.default_rng(seed)
    while True:
        candidate = int(rng.integers(1 << (BITS - 1), 1 << BITS)) | 1
        if is_prime(candidate):
            return candidate


def is_prime(number: int) -> bool:
    """Miller and Rabin's test, exact below 2^64."""
    if number < 2:
        return False
    for small in _WITNESSES:
        if number % small == 0:
            return number == small
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, base, odd, twos) for base in _WITNESSES)


def _passes(number: int, base: int, odd: int, twos: int) -> bool:
    value = pow(base, odd, number)
    if value in (1, number - 1):
        return True
    for _ in range(twos - 1):
        value = value * value % number
        if value == number - 1:
            return True
    return False
