"""Doubles as whole numbers in the same order: counted in bins, spread over buckets, sorted as words. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit

BINS = 1 << 13
LAST_BIN = np.uint64(BINS - 1)
CHUNK = 1 << 10
MOST_MOVES = 2
"""Moves per pair, on average over a bucket, beyond which another sort is the quicker way to mend the order."""

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
    return np.intp(min((max(place_of(bits), lowest) - lowest) >> shift, LAST_BIN))


@njit(cache=True, nogil=True)
def count_bins(bits, lowest, shift, counts):
    """Add to ``counts`` how many doubles fall into each bin."""
    bins = np.empty(CHUNK, np.int32)
    for begin in range(0, len(bits), CHUNK):
        first, count = np.uintp(begin), np.uintp(min(CHUNK, len(bits) - begin))
        for t in range(count):  # on its own, so that the compiler works out several at once
            bins[t] = bin_of(bits[first + t], lowest, shift)
        for t in range(count):
            counts[np.uintp(bins[t])] += np.int32(1)


@njit(cache=True, nogil=True)
def spread_pairs(x, bits, p, lowest, shift, bucket, free, into_x, into_p):
    """Copy each pair to its bin's bucket; ``free`` holds the next free position of each bucket.

    Returns the sum and the least of ``p``, which comes from far away.
    """
    total, least = 0.0, p[0]
    for i in range(np.uintp(len(x))):
        total += p[i]
        least = p[i] if p[i] < least else least
        b = np.uintp(bucket[np.uintp(bin_of(bits[i], lowest, shift))])
        k = np.uintp(free[b])
        free[b] = k + np.uintp(1)
        into_x[k], into_p[k] = x[i], p[i]
    return total, least


@njit(cache=True, nogil=True)
def places_of(bits, places):
    for i in range(len(bits)):
        places[i] = place_of(bits[i])


@njit(cache=True, nogil=True)
def words_of(bits, words):
    """One word per double: the leading bits of its place above the least one, and then its index.

    As many bits lead as the index leaves room for. Returns the mask of the index.
    """
    least, most = place_of(bits[0]), place_of(bits[0])
    for i in range(len(bits)):
        place = place_of(bits[i])
        least, most = min(least, place), max(most, place)
    width, shift = np.uint64(0), np.uint64(0)
    while np.uint64(len(bits) - 1) >> width > np.uint64(0):
        width += np.uint64(1)
    while (most - least) >> shift > ALL_BITS >> width:
        shift += np.uint64(1)
    for i in range(len(bits)):
        words[i] = (place_of(bits[i]) - least) >> shift << width | np.uint64(i)
    return (np.uint64(1) << width) - np.uint64(1)


@njit(cache=True, nogil=True)
def _rising(x):
    """Is every value above the one before?"""
    falls = 0
    for i in range(np.uintp(len(x) - 1)):
        falls += x[i + np.uintp(1)] <= x[i]
    return falls == 0


@njit(cache=True, nogil=True)
def _mend(x, p):
    """Sort pairs that are in order but for values too close together for their words; False if that is too much work.

    Equal values stay in their order, whatever is returned.
    """
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
def arrange(words, mask, x, p, into_x, into_p):
    """Copy the pairs in the order of the sorted words; is each value above the one before, and are they in order?

    Equal values stay in their order, whatever is returned.
    """
    for i in range(np.uintp(len(words))):
        j = np.uintp(words[i] & mask)
        into_x[i], into_p[i] = x[j], p[j]
    if _rising(into_x):
        return True, True
    return False, _mend(into_x, into_p)
