"""The compiled walk of `informed_linkage`: the possible records of each class, and their probabilities."""

from math import asin, atan2, ceil, cos, exp, inf, log, pi, sin, sqrt

import numpy as np
import numpy.typing as npt
from numba import njit

# The compiled part of `informed_linkage`: inclusion probabilities of one class after another.

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TAIL = 42.0
"""−log of what is neglected: e^−42 is 6e-19."""
TILTS = 200
"""The most steps to find the tilt; each at least halves the bracket, or is a Newton step inside it."""
SMALL = 1 / 128
"""Tilted probabilities below this enter by power series of TERMS terms: (2 · SMALL)^TERMS is 4e-15."""
TERMS = 8
LARGEST = 1e300
"""Odds are cut off here: infinity would give NaN."""

FITS = 0
CROWDED = 1
EXHAUSTED = 2


@njit(cache=True, nogil=True, error_model="numpy")
def of_classes(p: Floats, starts: Ints, people: Ints, copies: Ints, found: Floats, status: Ints) -> None:
    """`of_class` for each class; class c has the entries from ``starts[c]`` on."""
    longest = 0
    for c in range(len(people)):
        longest = max(longest, starts[c + 1] - starts[c])
    odds, tilted = np.empty(longest), np.empty(longest)
    for c in range(len(people)):
        first, past = starts[c], starts[c + 1]
        status[c] = of_class(
            p[first:past], copies[first:past], past - first, people[c], found[first:past], odds, tilted
        )


@njit(cache=True, nogil=True, error_model="numpy")
def of_class(
    p: Floats, copies: Ints, length: int, people: int, found: Floats, odds: Floats, tilted: Floats
) -> int:
    """Writes π of the first ``length`` entries to ``found``; FITS, CROWDED or EXHAUSTED. ``odds``, ``tilted``: scratch.

    CROWDED: more than N are certain, who share N. EXHAUSTED: fewer than N are possible, and each gets 1.
    """
    certain = 0
    possible = 0
    for i in range(length):
        certain += copies[i] * (p[i] >= 1.0)
        possible += copies[i] * (p[i] > 0.0)
    if certain > people:
        for i in range(length):
            found[i] = people / certain if p[i] >= 1.0 else 0.0
        return CROWDED
    if possible <= people or certain == people:
        for i in range(length):
            found[i] = 1.0 if p[i] >= 1.0 or (possible <= people and p[i] > 0.0) else 0.0
        return FITS if possible >= people else EXHAUSTED
    wanted = people - certain
    total = 0.0
    if wanted == 1:  # one record matches: its odds' share
        for i in range(length):
            odds[i] = p[i] / (1.0 - p[i]) if p[i] < 1.0 else 0.0
            total += copies[i] * odds[i]
        if total > 1e-290:
            for i in range(length):
                found[i] = odds[i] / total if p[i] < 1.0 else 1.0
            return FITS
    # Those in doubt are moved to the front of the scratch arrays, and back at the end.
    doubtful = 0
    for i in range(length):
        if 0.0 < p[i] < 1.0:
            odds[doubtful] = max(p[i] / (1.0 - p[i]), 1.0 / LARGEST)
            tilted[doubtful] = copies[i]
            doubtful += 1
    conditioned(odds, tilted, doubtful, wanted)
    doubtful = 0
    for i in range(length):
        if 0.0 < p[i] < 1.0:
            found[i] = odds[doubtful]
            doubtful += 1
        else:
            found[i] = 1.0 if p[i] >= 1.0 else 0.0
    return FITS


@njit(cache=True, nogil=True, error_model="numpy")
def tilt_of(odds: Floats, copies: Floats, length: int, wanted: int) -> float:
    """The factor of all odds with which the expected sum is ``wanted``, to about 1e-3 of its standard deviation.

    Newton's method for the logarithm of the sum, inside a bracket: the sum is at most factor · Σ odds, and at least
    what it would be if all odds were the smallest.
    """
    total = 0.0
    number = 0.0
    least = inf
    for i in range(length):
        total += copies[i] * odds[i]
        number += copies[i]
        least = min(least, odds[i])
    low = log(wanted) - log(total)
    high = max(log(wanted) - log(number - wanted) - log(least), low)
    tilt = low
    for _ in range(TILTS):
        factor = exp(tilt)
        mean = 0.0
        variance = 0.0
        for i in range(length):
            t = min(factor * odds[i], LARGEST)
            rest = 1.0 / (1.0 + t)
            expected = copies[i] * t * rest
            mean += expected
            variance += expected * rest
        off = wanted - mean
        if abs(off) <= 1e-3 * max(1.0, sqrt(variance)):
            break
        if off > 0:
            low = tilt
        else:
            high = tilt
        step = inf
        if variance > 0.0 and mean > 0.0:
            step = tilt + log(wanted / mean) * mean / variance
        tilt = step if low < step < high else (low + high) / 2
    return float(factor)


@njit(cache=True, nogil=True, error_model="numpy")
def conditioned(odds: Floats, copies: Floats, length: int, wanted: int) -> None:
    """π of entries that are neither certain nor impossible, 0 < ``wanted`` < their number, in place of the odds."""
    factor = tilt_of(odds, copies, length, wanted)
    large = np.empty(length, np.int64)
    larges = 0
    sums = np.zeros(TERMS + 1)  # of the small probabilities' powers
    variance = 0.0
    number = 0.0
    for i in range(length):
        t = min(factor * odds[i], LARGEST)
        rest = 1.0 / (1.0 + t)
        p = t * rest
        odds[i] = p
        variance += copies[i] * p * rest
        number += copies[i]
        if p < SMALL:
            power = copies[i]
            for k in range(1, TERMS + 1):
                power *= p
                sums[k] += power
        else:
            large[larges] = i
            larges += 1
    # Aliasing is below e^−TAIL (Bernstein's inequality). An odd number of points leaves out −1, where factors can be 0.
    points = int(min(ceil(TAIL / 3 + sqrt((TAIL / 3) ** 2 + 2 * TAIL * variance)), number + 1)) | 1
    last = (points - 1) // 2
    if variance > TAIL / 2:
        last = min(last, ceil(asin(sqrt(TAIL / (2 * variance))) * points / pi))
    whole = 0.0
    series = np.zeros(TERMS + 1)
    without = np.zeros(larges)
    for point in range(last + 1):
        angle = 2 * pi * point / points
        turn = complex(cos(angle), sin(angle))
        z = turn - 1.0
        exponent = 0.0 * z  # log Π (1 + p·z) of the small ones
        for k in range(TERMS, 0, -1):
            exponent = z * ((sums[k] if k % 2 else -sums[k]) / k + exponent)
        size = exp(exponent.real) * (2.0 if point else 1.0)
        way = exponent.imag - angle * wanted
        value = complex(size * cos(way), size * sin(way))
        for j in range(larges):
            p = odds[large[j]]
            each = 1.0 + p * z
            if copies[large[j]] == 1.0:
                value *= each
            else:
                size = 0.5 * copies[large[j]] * log(each.real**2 + each.imag**2)
                way = copies[large[j]] * atan2(each.imag, each.real)
                value *= complex(exp(size) * cos(way), exp(size) * sin(way))
        whole += value.real
        value *= turn
        for j in range(larges):
            p = odds[large[j]]
            real, imaginary = 1.0 + p * z.real, p * z.imag
            square = real * real + imaginary * imaginary
            without[j] += (value.real * real + value.imag * imaginary) / square
        for k in range(TERMS + 1):  # of 1 / (1 + p·z)
            series[k] += value.real
            value *= -z
    for i in range(length):
        p = odds[i]
        if p < SMALL:
            rest = 0.0
            for k in range(TERMS, -1, -1):
                rest = series[k] + p * rest
            odds[i] = min(max(p * rest / whole, 0.0), 1.0)
    for j in range(larges):
        odds[large[j]] = min(max(odds[large[j]] * without[j] / whole, 0.0), 1.0)


Codes = npt.NDArray[np.uint32]

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
