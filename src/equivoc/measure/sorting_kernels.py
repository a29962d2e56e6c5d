"""Doubles as whole numbers in the same order: counted in bins, spread over buckets, put in order by words. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

BINS = 1 << 13
MOST_MOVES = 8
"""Moves per pair, on average over a bucket, beyond which its words were too coarse and it is sorted another way."""

ALL_BITS = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
SIGN = np.uint64(1 << 63)
LOWEST = np.int64(-(1 << 63))


@njit(cache=True, nogil=True, inline="always")
def place_of(bits):
    """A whole number ≥ 0 that rises with the double whose 64 bits are given as a signed integer; −0.0 is at 0.0."""
    return np.uint64(bits if bits >= 0 else LOWEST - bits) ^ SIGN


@njit(cache=True, nogil=True, inline="always")
def bin_of(bits, lowest, shift):
    """The bin, of width 2^shift from the place ``lowest`` on; the first and the last one take what lies outside."""
    return min(np.intp((max(place_of(bits), lowest) - lowest) >> shift), BINS - 1)


@njit(cache=True, nogil=True)
def count_bins(bits, lowest, shift, counts):
    """Add to ``counts`` how many doubles fall into each bin."""
    for i in range(len(bits)):
        counts[bin_of(bits[i], lowest, shift)] += 1


@njit(cache=True, nogil=True)
def spread(x, bits, p, lowest, shift, bucket, free, into_x, into_p):
    """Copy each pair to its bin's bucket; ``free`` holds the next free position of each bucket."""
    for i in range(len(x)):
        b = bucket[bin_of(bits[i], lowest, shift)]
        k = free[b]
        free[b] = k + 1
        into_x[k], into_p[k] = x[i], p[i]


@njit(cache=True, nogil=True)
def words_of(bits, words):
    """One word per double: as many leading bits of its place, from the least one on, as leave room for its index.

    Returns the mask of the index.
    """
    least, most = place_of(bits[0]), place_of(bits[0])
    for i in range(len(bits)):
        place = place_of(bits[i])
        least, most = min(least, place), max(most, place)
    width = np.uint64(0)
    while np.uint64(len(bits) - 1) >> width > np.uint64(0):
        width += np.uint64(1)
    shift = np.uint64(0)
    while (most - least) >> shift > ALL_BITS >> width:
        shift += np.uint64(1)
    for i in range(len(bits)):
        words[i] = ((place_of(bits[i]) - least) >> shift) << width | np.uint64(i)
    return (np.uint64(1) << width) - np.uint64(1)


@njit(cache=True, nogil=True)
def insert(x, p):
    """Sort pairs that are nearly in order, from left to right; False if that takes too many moves."""
    moves = 0
    for i in range(1, len(x)):
        value, probability = x[i], p[i]
        k = i
        while k > 0 and x[k - 1] > value:
            x[k], p[k] = x[k - 1], p[k - 1]
            k -= 1
        x[k], p[k] = value, probability
        moves += i - k
        if moves > MOST_MOVES * len(x):
            return False
    return True


@njit(cache=True, nogil=True)
def put_in_order(words, mask, x, p):
    """Bring the pairs into the order of the sorted words, and mend it where words were too coarse.

    False, and nothing has changed, if that takes too many moves.
    """
    sorted_x, sorted_p = np.empty_like(x), np.empty_like(p)
    for i in range(len(words)):
        j = np.intp(words[i] & mask)
        sorted_x[i], sorted_p[i] = x[j], p[j]
    falls = 0
    for i in range(1, len(words)):
        falls += sorted_x[i] < sorted_x[i - 1]
    if falls > 0 and not insert(sorted_x, sorted_p):
        return False
    x[:], p[:] = sorted_x, sorted_p
    return True
