"""The compiled walk of `informed_linkage`: the possible records of each class, and their probabilities."""

import numpy as np
import numpy.typing as npt
from numba import njit

from equivoc.intruder.beliefs.conditional_bernoulli_kernels import of_class

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-290
"""Smaller probabilities are dropped; a class that needs them is recomputed with logarithms."""


@njit(cache=True, nogil=True, error_model="numpy")
def restrict(
    lists: Codes, weights: Floats, k: int, length: int, codes: Codes, tables: Floats, row: int
) -> int:
    """Multiplies list k's weights by the table's row at each record's code, to list k + 1; drops impossible records."""
    kept = 0
    for i in range(length):
        record = lists[k, i]
        weight = weights[k, i] * tables[row + codes[k, record]]
        lists[k + 1, kept] = record
        weights[k + 1, kept] = weight
        kept += weight > NEGLIGIBLE
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def move(gathered: Floats, symbol: int, columns: Ints, shares: Floats, filled: int) -> int:
    """Moves what was gathered for the symbol, if anything, to the end of the list; the list's new length."""
    if gathered[symbol] > 0.0:
        columns[filled] = symbol
        shares[filled] = gathered[symbol]
        gathered[symbol] = 0.0
        filled += 1
    return filled


@njit(cache=True, nogil=True, error_model="numpy")
def walk(
    begin: int,
    true: Ints,
    people: Ints,
    first: Ints,
    past: Ints,
    codes: Codes,
    copies: Ints,
    tables: Floats,
    begins: Ints,
    widths: Ints,
    starts: Ints,
    symbols: Ints,
    counts: Floats,
    lossless: bool,
    lists: Codes,
    weights: Floats,
    lengths: Ints,
    times: Ints,
    scratch: Floats,
    gathered: Floats,
    columns: Ints,
    shares: Floats,
    pointers: Ints,
) -> int:
    """Each class's linkage to the confidential symbols, from class ``begin`` until the lists are full; the next class.

    Class c has the true codes ``true[:, c]`` of the changed keys and can only have the records ``first[c]`` …
    ``past[c] − 1``. Consecutive classes that begin with the same codes share the lists of possible records.
    ``starts``, ``symbols``, ``counts``: how many copies of each record were released with each symbol.

    Results, as CSR: ``columns``, ``shares``, and where each class ends in them, ``pointers[c + 1]``. A class without
    entries has no possible record, or (unless ``lossless``) one of a negligible probability is needed. The arrays from
    ``lists`` to ``gathered`` are scratch; allocating here would double the time to compile.
    """
    keys, classes = true.shape
    width = len(gathered)
    filled = 0
    for c in range(begin, classes):
        if filled + width > len(columns):
            return c
        k = 0
        if c > begin and first[c] == first[c - 1] and past[c] == past[c - 1]:
            while k < keys and true[k, c] == true[k, c - 1]:
                k += 1
        else:
            lengths[0] = past[c] - first[c]
            for i in range(lengths[0]):
                lists[0, i] = first[c] + i
                weights[0, i] = 1.0
        while k < keys:
            row = begins[k] + true[k, c] * widths[k]
            lengths[k + 1] = restrict(lists, weights, k, lengths[k], codes, tables, row)
            k += 1
        length = int(lengths[keys])
        possible = 0
        for i in range(length):
            times[i] = copies[lists[keys, i]]
            possible += times[i]
        pointers[c + 1] = filled
        if possible == 0 or (possible < people[c] and not lossless):
            continue
        found = scratch[0]
        of_class(weights[keys], times, length, people[c], found, scratch[1], scratch[2])
        total = 0.0
        for i in range(length):
            total += times[i] * found[i]
        cells = 0
        for i in range(length):
            record = lists[keys, i]
            share = found[i] / total
            cells += starts[record + 1] - starts[record]
            for j in range(starts[record], starts[record + 1]):
                gathered[symbols[j]] += share * counts[j]
        if cells > width:
            for symbol in range(width):
                filled = move(gathered, symbol, columns, shares, filled)
        else:
            for i in range(length):
                record = lists[keys, i]
                for j in range(starts[record], starts[record + 1]):
                    filled = move(gathered, symbols[j], columns, shares, filled)
        pointers[c + 1] = filled
    return len(people)
