"""Compiled loops over packed cells: sort them, merge equal ones, drop a key, split them into classes.

A cell is one uint64, ``[key | … | key | value | count]`` from the highest bit to the lowest. Sorting the
words sorts the cells; adding a count to a word adds it to its cell. The top bit is never used, so no shift
reaches 64.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

UInts = NDArray[np.uint64]

# A run shorter than this is sorted by insertion: it fits a few cache lines.
_SHORT = 24
# The longest table of counts that a dense segment may use (entries of 8 bytes: it stays near the cache).
_DENSE_ENTRIES = 1 << 22
_DIGIT_BITS = 11


@njit(cache=True, nogil=True)
def add_codes(words: UInts, codes: NDArray[np.generic], bit: int) -> None:
    """``words += codes << bit``, without a temporary."""
    shift = np.uint64(bit)
    for i in range(words.size):
        words[i] += np.uint64(codes[i]) << shift


@njit(cache=True, nogil=True)
def _radix_sort(words: UInts, other: UInts, size: int, low_bit: int, high_bit: int) -> bool:
    """Sort by the bits [low_bit, high_bit), least digit first; True if the result is in ``other``."""
    bits = high_bit - low_bit
    if bits <= 0:
        return False
    # Fewer, wider digits for long runs; a histogram much longer than the run would cost more than it saves.
    digit = 4
    while digit < _DIGIT_BITS and (1 << digit) < size:
        digit += 1
    passes = (bits + digit - 1) // digit
    digit = (bits + passes - 1) // passes
    mask = np.uint64((1 << digit) - 1)
    starts = np.empty(1 << digit, np.int64)
    in_other = False
    for p in range(passes):
        shift = np.uint64(low_bit + p * digit)
        source = other if in_other else words
        target = words if in_other else other
        starts[:] = 0
        for i in range(size):
            starts[(source[i] >> shift) & mask] += 1
        total = 0
        single = False
        for d in range(starts.size):
            here = starts[d]
            single = single or here == size
            starts[d] = total
            total += here
        if single:  # every word has the same digit: the order stays
            continue
        for i in range(size):
            word = source[i]
            d = (word >> shift) & mask
            target[starts[d]] = word
            starts[d] += 1
        in_other = not in_other
    return in_other


@njit(cache=True, nogil=True)
def sort_and_merge(words: UInts, scratch: UInts, count_bits: int, top_bit: int) -> int:
    """Sort in place and add up equal cells; the first (returned) many words hold the result."""
    size = words.size
    ordered = True
    for i in range(1, size):
        if words[i - 1] > words[i]:
            ordered = False
            break
    in_scratch = not ordered and _radix_sort(words, scratch, size, count_bits, top_bit)
    source = scratch if in_scratch else words
    shift = np.uint64(count_bits)
    mask = np.uint64((1 << count_bits) - 1)
    kept = 0
    for i in range(size):
        word = source[i]
        if kept > 0 and (words[kept - 1] >> shift) == (word >> shift):
            words[kept - 1] += word & mask
        else:
            words[kept] = word
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def merge(left: UInts, right: UInts, out: UInts, count_bits: int) -> int:
    """Merge two sorted tables of cells into ``out``, adding up equal cells; how many words it holds."""
    shift = np.uint64(count_bits)
    mask = np.uint64((1 << count_bits) - 1)
    i = j = kept = 0
    while i < left.size and j < right.size:
        a = left[i] >> shift
        b = right[j] >> shift
        if a == b:
            out[kept] = left[i] + (right[j] & mask)
            i += 1
            j += 1
        elif a < b:
            out[kept] = left[i]
            i += 1
        else:
            out[kept] = right[j]
            j += 1
        kept += 1
    while i < left.size:
        out[kept] = left[i]
        i += 1
        kept += 1
    while j < right.size:
        out[kept] = right[j]
        j += 1
        kept += 1
    return kept


@njit(cache=True, nogil=True)
def longest_segment(words: UInts, shift: int) -> int:
    """The longest run of words that agree above bit ``shift``."""
    by = np.uint64(shift)
    longest = start = 0
    for i in range(1, words.size + 1):
        if i == words.size or (words[i] >> by) != (words[start] >> by):
            longest = max(longest, i - start)
            start = i
    return longest


@njit(cache=True, nogil=True)
def drop_field(words: UInts, out: UInts, low_bit: int, width: int, count_bits: int, longest: int) -> int:
    """Remove the field of ``width`` bits that starts at ``low_bit``; returns the number of cells in ``out``.

    The words are sorted, so those that agree above the field are adjacent. Each such segment is sorted on its
    own: by counting if its cells fill their range, by insertion if it is short, by radix sort otherwise.
    """
    low_mask = np.uint64((1 << low_bit) - 1)
    count_shift = np.uint64(count_bits)
    count_mask = np.uint64((1 << count_bits) - 1)
    above = np.uint64(low_bit + width)
    entries = 1 << min(low_bit - count_bits, 62)
    dense = np.zeros(entries if entries <= _DENSE_ENTRIES and entries <= 4 * longest else 0, np.uint64)
    first = np.empty(longest, np.uint64)
    second = np.empty(longest if longest > _SHORT else 0, np.uint64)
    kept = 0
    start = 0
    size = words.size
    while start < size:
        high = words[start] >> above
        end = start + 1
        while end < size and (words[end] >> above) == high:
            end += 1
        length = end - start
        head = high << np.uint64(low_bit)
        if length == 1:
            out[kept] = head | (words[start] & low_mask)
            kept += 1
        elif dense.size > 0 and entries <= 4 * length:
            for i in range(start, end):
                low = words[i] & low_mask
                dense[low >> count_shift] += low & count_mask
            for d in range(entries):
                if dense[d] > 0:
                    out[kept] = head | (np.uint64(d) << count_shift) | dense[d]
                    kept += 1
                    dense[d] = 0
        else:
            if length <= _SHORT:
                for i in range(length):
                    low = words[start + i] & low_mask
                    j = i
                    while j > 0 and first[j - 1] > low:
                        first[j] = first[j - 1]
                        j -= 1
                    first[j] = low
                ordered = first
            else:
                for i in range(length):
                    first[i] = words[start + i] & low_mask
                in_second = _radix_sort(first, second, length, count_bits, low_bit)
                ordered = second if in_second else first
            previous = np.uint64(0)
            for i in range(length):
                low = ordered[i]
                if i > 0 and (low >> count_shift) == previous:
                    out[kept - 1] += low & count_mask
                else:
                    out[kept] = head | low
                    kept += 1
                    previous = low >> count_shift
        start = end
    return kept


@njit(cache=True, nogil=True)
def move_fields(
    words: UInts,
    out: UInts,
    from_bits: NDArray[np.int64],
    to_bits: NDArray[np.int64],
    widths: NDArray[np.int64],
    kept_bits: int,
) -> None:
    """Copy the lowest ``kept_bits`` (value and count) and each chosen field to its new place."""
    low_mask = np.uint64((1 << kept_bits) - 1)
    for i in range(words.size):
        word = words[i]
        moved = word & low_mask
        for f in range(widths.size):
            mask = np.uint64((1 << widths[f]) - 1)
            moved |= ((word >> np.uint64(from_bits[f])) & mask) << np.uint64(to_bits[f])
        out[i] = moved


@njit(cache=True, nogil=True)
def mark_field(words: UInts, bit: int, width: int, seen: NDArray[np.bool_]) -> None:
    """Mark the codes that occur in the field."""
    shift, mask = np.uint64(bit), np.uint64((1 << width) - 1)
    for i in range(words.size):
        seen[(words[i] >> shift) & mask] = True


@njit(cache=True, nogil=True)
def add_field(words: UInts, out: UInts, bit: int, width: int, table: UInts) -> None:
    """``out += table[field of words]``: the field recoded and moved to where the table says."""
    shift, mask = np.uint64(bit), np.uint64((1 << width) - 1)
    for i in range(words.size):
        out[i] += table[(words[i] >> shift) & mask]


@njit(cache=True, nogil=True)
def count_classes(words: UInts, class_bit: int) -> int:
    """How many distinct classes (bits from ``class_bit`` up) the sorted words hold."""
    shift = np.uint64(class_bit)
    classes = min(words.size, 1)
    for i in range(1, words.size):
        classes += (words[i] >> shift) != (words[i - 1] >> shift)
    return classes


@njit(cache=True, nogil=True)
def split(
    words: UInts,
    class_bit: int,
    count_bits: int,
    starts: NDArray[np.signedinteger],
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> None:
    """Classes from sorted words: the start of each class's cells, its size, and each cell's value and count."""
    count_shift = np.uint64(count_bits)
    count_mask = np.uint64((1 << count_bits) - 1)
    value_mask = np.uint64((1 << (class_bit - count_bits)) - 1)
    class_shift = np.uint64(class_bit)
    current = np.uint64(0)
    at = -1
    for i in range(words.size):
        word = words[i]
        code = word >> class_shift
        if at < 0 or current != code:
            at += 1
            current = code
            starts[at] = i
            sizes[at] = 0
        count = np.int64(word & count_mask)
        values[i] = np.int32((word >> count_shift) & value_mask)
        counts[i] = count
        sizes[at] += count
    starts[at + 1] = words.size
