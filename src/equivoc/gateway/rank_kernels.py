"""The compiled loops of the rank rule: rows reduced modulo a prime below 2^50, and the search for small zero sums.

A product is reduced by ``a·b − ⌊a·b/p⌋·p`` in wrapping 64-bit arithmetic, with the quotient estimated in float64. The
estimate has a relative error below 4·2^−53, so for p < 2^50 it is off by at most 1, and one correction is exact.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]


@njit(cache=True, inline="always")
def _times(a: Any, b: Any, prime: Any, inverse: float) -> Any:
    """a · b modulo the prime; ``inverse`` is 1/prime."""
    found = a * b - np.int64(np.float64(a) * np.float64(b) * inverse) * prime
    if found < 0:
        found += prime
    elif found >= prime:
        found -= prime
    return found


@njit(cache=True)
def inverse_of(value: int, prime: int) -> Any:
    """1/value modulo the prime, by Fermat: value^(p − 2)."""
    inverse = 1.0 / prime
    found, power, left = np.int64(1), np.int64(value), prime - 2
    while left:
        if left & 1:
            found = _times(found, power, prime, inverse)
        power = _times(power, power, prime, inverse)
        left >>= 1
    return found


@njit(cache=True, nogil=True)
def sum_of_rows(matrix: Ints, chosen: Ints, columns: int, prime: int) -> Ints:
    """The sum of the chosen rows modulo the prime."""
    found = np.zeros(columns, dtype=np.int64)
    for row in chosen:
        for c in range(columns):
            total = found[c] + matrix[row, c]
            found[c] = total - prime if total >= prime else total
    return found


@njit(cache=True, nogil=True)
def scale(row: Ints, factor: int, prime: int) -> None:
    """Multiply a row by a factor, in place."""
    inverse = 1.0 / prime
    for c in range(len(row)):
        if row[c]:
            row[c] = _times(row[c], factor, prime, inverse)


@njit(cache=True, nogil=True)
def eliminate(matrix: Ints, rows: int, columns: int, column: int, by: Ints, skip: int, prime: int) -> None:
    """Subtract from each row (but ``skip``) the multiple of ``by`` that makes its entry in ``column`` 0.

    ``by`` has 1 in that column.
    """
    inverse = 1.0 / prime
    where = np.flatnonzero(by[:columns])
    for i in range(rows):
        factor = matrix[i, column]
        if factor == 0 or i == skip:
            continue
        over = np.float64(factor) * inverse
        for c in where:
            value = by[c]
            product = factor * value - np.int64(over * np.float64(value)) * prime
            if product < 0:
                product += prime
            elif product >= prime:
                product -= prime
            rest = matrix[i, c] - product
            matrix[i, c] = rest + prime if rest < 0 else rest


@njit(cache=True, nogil=True)
def negative_products(matrix: Ints, rows: int, columns: int, vector: Ints, prime: int) -> Ints:
    """−(row · vector) modulo the prime, for each row."""
    inverse = 1.0 / prime
    found = np.empty(rows, dtype=np.int64)
    for i in range(rows):
        total = np.int64(0)
        for c in range(columns):
            value = matrix[i, c]
            if value:
                total += _times(value, vector[c], prime, inverse)
                if total >= prime:
                    total -= prime
        found[i] = prime - total if total else 0
    return found


@njit(cache=True, nogil=True)
def support(matrix: Ints, chosen: Ints, columns: int) -> npt.NDArray[np.bool_]:
    """The columns in which one of the chosen rows is not 0."""
    found = np.zeros(columns, dtype=np.bool_)
    left = columns
    for row in chosen:
        if left == 0:
            break
        for c in range(columns):
            if matrix[row, c] and not found[c]:
                found[c] = True
                left -= 1
    return found


@njit(cache=True, nogil=True)
def fold(values: Ints, parent: Ints, columns: int, prime: int) -> Ints:
    """The sum of the values of each parent's parts modulo the prime."""
    found = np.zeros(columns, dtype=np.int64)
    for part in range(len(parent)):
        total = found[parent[part]] + values[part]
        found[parent[part]] = total - prime if total >= prime else total
    return found


@njit(cache=True, nogil=True)
def _next_subset(chosen: Small, count: int, atoms: int) -> bool:
    """The next subset of ``count`` atoms in lexicographic order, in place; False after the last."""
    at = count - 1
    while at >= 0 and chosen[at] == atoms - count + at:
        at -= 1
    if at < 0:
        return False
    chosen[at] += 1
    for later in range(at + 1, count):
        chosen[later] = chosen[later - 1] + 1
    return True


@njit(cache=True, nogil=True)
def small_subsets(
    numbers: Ints, sizes: Ints, most_atoms: int, most_people: int, prime: int, room: int
) -> tuple[Ints, Ints, Small, int]:
    """Sum, people and atoms of every subset of at most ``most_atoms`` atoms and ``most_people`` people.

    The last figure is how many there are; −1 if more than ``room``.
    """
    sums, people = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    atoms = np.full((room, max(most_atoms, 1)), -1, dtype=np.int32)
    found = 1  # the empty set
    for count in range(1, min(most_atoms, len(numbers)) + 1):
        chosen = np.arange(count).astype(np.int32)
        while True:
            total, size = np.int64(0), np.int64(0)
            for a in chosen:
                total += numbers[a]
                size += sizes[a]
                if total >= prime:
                    total -= prime
            if size <= most_people:
                if found == room:
                    return sums, people, atoms, -1
                sums[found], people[found] = total, size
                for i in range(count):
                    atoms[found, i] = chosen[i]
                found += 1
            if not _next_subset(chosen, count, len(numbers)):
                break
    return sums, people, atoms, found


@njit(cache=True, nogil=True)
def _disjoint(atoms: Small, one: int, other: int, third: int) -> bool:
    for i in range(atoms.shape[1]):
        a = atoms[one, i]
        if a < 0:
            break
        if a == third:
            return False
        for j in range(atoms.shape[1]):
            if atoms[other, j] == a:
                return False
    if third >= 0:
        for j in range(atoms.shape[1]):
            if atoms[other, j] == third:
                return False
    return True


@njit(cache=True, nogil=True)
def zero_sum(
    sums: Ints, people: Ints, atoms: Small, third: int, number: int, size: int, most_people: int, prime: int,
    work: int,
) -> tuple[bool, int]:  # fmt: skip
    """True if two disjoint subsets, with atom ``third`` added, sum to 0 and have 1 … ``most_people`` people.

    ``sums`` ascend. ``third`` may be −1: no atom, with number and size 0. Also returns what is left of the ``work``
    (−1: not enough). The sums modulo p add up to 0, p or 2p together with the third number.
    """
    wanted = (prime - number) % prime
    for turn in range(2):
        target = wanted + turn * prime
        low, high = 0, len(sums) - 1
        work -= len(sums)
        if work < 0:
            return False, -1
        while low < len(sums) and high >= 0:
            total = sums[low] + sums[high]
            if total < target:
                low += 1
            elif total > target:
                high -= 1
            else:
                last = low
                while last < len(sums) and sums[last] == sums[low]:
                    last += 1
                first = high
                while first >= 0 and sums[first] == sums[high]:
                    first -= 1
                for i in range(low, last):
                    for j in range(first + 1, high + 1):
                        work -= 1
                        if work < 0:
                            return False, -1
                        together = people[i] + people[j] + size
                        if 0 < together <= most_people and _disjoint(atoms, i, j, third):
                            return True, work
                low, high = last, first
    return False, work
