"""The compiled loops of `register`: likelihoods of (record, person) pairs, their scaling, and the resulting linkage.

Record r has a run of ``length[r]`` people from ``first[r]`` on, whose likelihoods begin at ``begin[r]``.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Levels = npt.NDArray[np.int32]
Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def dot(run: Singles, weight: Floats) -> Any:
    """Σ likelihood · weight over one run. It takes slices, so that the compiler vectorises the loop."""
    total = 0.0
    for j in range(len(run)):
        total += run[j] * weight[j]
    return total


@njit(cache=True, nogil=True)
def add(run: Singles, scale: float, sums: Floats) -> None:
    """Adds the run, scaled, to the sums."""
    for j in range(len(run)):
        sums[j] += scale * run[j]


@njit(cache=True, nogil=True)
def multiply(run: Singles, table: Singles, level: Levels) -> None:
    """Multiplies the run by a table's entries at each person's level."""
    for j in range(len(run)):
        run[j] *= table[level[j]]


@njit(cache=True, nogil=True)
def fill(
    likelihood: Singles, begin: Ints, first: Ints, length: Ints, row: Ints, tables: Singles, levels: Levels
) -> None:
    """Each pair's product over the keys: the table of key a, at ``row[r, a]`` + the person's level, is one factor."""
    for r in range(len(first)):
        run = likelihood[begin[r] : begin[r] + length[r]]
        run[:] = 1.0
        for a in range(len(levels)):
            multiply(run, tables[row[r, a] :], levels[a][first[r] : first[r] + length[r]])


@njit(cache=True, nogil=True)
def row_sums(likelihood: Singles, begin: Ints, first: Ints, length: Ints, weight: Floats) -> Floats:
    """`dot` of every record."""
    found = np.empty(len(first))
    for r in range(len(first)):
        run = likelihood[begin[r] : begin[r] + length[r]]
        found[r] = dot(run, weight[first[r] : first[r] + length[r]])
    return found


@njit(cache=True, nogil=True)
def scale_once(
    likelihood: Singles,
    begin: Ints,
    first: Ints,
    length: Ints,
    records: Floats,
    stranger: Floats,
    strangers: float,
    weight: Floats,
    by_record: Floats,
    by_person: Floats,
) -> float:
    """One pass over the pairs: each record's scale, and with these the sum of each person, written to the last two.

    ``weight`` has each person's scale times the number of people alike, ``strangers`` the same of people who are not
    in the register, whom record r fits with likelihood ``stranger[r]``; the sum of these is returned.
    """
    by_person[:] = 0.0
    of_strangers = 0.0
    for r in range(len(first)):
        run = likelihood[begin[r] : begin[r] + length[r]]
        total = dot(run, weight[first[r] : first[r] + length[r]]) + stranger[r] * strangers
        by_record[r] = 1.0 / total
        scaled = records[r] / total
        of_strangers += scaled * stranger[r]
        add(run, scaled, by_person[first[r] : first[r] + length[r]])
    return of_strangers


@njit(cache=True, nogil=True)
def gather(
    likelihood: Singles,
    begin: Ints,
    first: Ints,
    length: Ints,
    by_record: Floats,
    starts: Ints,
    symbols: Ints,
    counts: Floats,
    found: Floats,
) -> None:
    """Adds to ``found``, symbols × people, each record's copies by symbol (CSR: starts, symbols, counts), scaled."""
    for r in range(len(first)):
        run = likelihood[begin[r] : begin[r] + length[r]]
        for k in range(starts[r], starts[r + 1]):
            add(run, by_record[r] * counts[k], found[symbols[k]][first[r] : first[r] + length[r]])
