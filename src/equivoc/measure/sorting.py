"""Many values with their probabilities in ascending order of value, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.kept_memory import Floats, room
from equivoc.measure.parallel import cores, over_pieces
from equivoc.measure.sums import KERNELS_FROM, sum_and_least

FIRST_FEW = 1000
"""Values that are in no order are told by so many."""
BUCKET = 40_000
"""Pairs in a bucket: what a core keeps near itself while it puts them in order."""
MOST_BUCKETS = 1 << 8
SAMPLE = 1 << 12
OUTLIERS = 1 / 64
"""This share of the sample at either end does not widen the bins."""


@dataclass(frozen=True, eq=False)
class SortedPairs:
    """Values in ascending order with their probabilities, and what was noticed on the way."""

    values: Floats
    probabilities: Floats
    distinct: bool
    """True if each value is above the one before; False if that is not known."""
    total: float
    """The sum of the probabilities; not a finite number if one of them is not."""
    least: float
    """The least probability."""


def sorted_pairs(x: Floats, p: Floats, *, memory: Callable[[int], Floats] = np.empty) -> SortedPairs:
    """``x`` in ascending order and ``p`` along with it, always in the same way. At least one pair is needed.

    The pairs are spread over buckets, each with values above those of the last. Within a bucket NumPy sorts words that
    hold a value's leading bits and its index: it sorts whole numbers several times faster than it sorts indices.

    >>> pairs = sorted_pairs(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.2, 0.3]))
    >>> pairs.values.tolist(), pairs.probabilities.tolist()
    ([1.0, 2.0, 3.0], [0.2, 0.3, 0.5])
    """
    if _in_order(x[:FIRST_FEW], np.greater_equal):
        for above in (np.greater, np.greater_equal):
            if _in_order(x, above):
                return SortedPairs(x, p, above is np.greater, *sum_and_least(p))
    if len(x) < KERNELS_FROM:
        order = np.argsort(x)
        return SortedPairs(x[order], p[order], False, *sum_and_least(p))
    n = len(x)
    sorted_x, sorted_p = memory(n), memory(n)
    rising: list[bool] = []
    with room(2 * n) as spread:
        spread_x, spread_p = spread[:n], spread[n:]
        ends, total, least = _spread(x, p, spread_x, spread_p)
        buckets = [slice(begin, end) for begin, end in pairwise([0, *ends.tolist()]) if begin < end]

        def sort(part: slice) -> None:
            for bucket in buckets[part]:
                rising.append(_sort(spread_x[bucket], spread_p[bucket], sorted_x[bucket], sorted_p[bucket]))

        over_pieces(sort, len(buckets), piece=1)
    return SortedPairs(sorted_x, sorted_p, all(rising), total, least)


def _in_order(x: Floats, above: np.ufunc) -> bool:
    return bool(above(x[1:], x[:-1]).all())


def _spread(x: Floats, p: Floats, into_x: Floats, into_p: Floats) -> tuple[NDArray[np.int64], float, float]:
    """Copy the pairs bucket by bucket; where each bucket ends, the sum of ``p`` and its least.

    Bins of equal width, in the order of the doubles' bits, are joined to buckets of about equal size.
    """
    from equivoc.measure.sorting_kernels import BINS, count_bins, spread_pairs

    n, bits = len(x), x.view(np.int64)
    lowest, shift = _bins(x)
    piece = -(-n // (2 * cores()))
    counts = np.zeros((-(-n // piece), BINS), np.int32)
    over_pieces(
        lambda part: count_bins(bits[part], lowest, shift, counts[part.start // piece]), n, piece=piece
    )
    in_bin = counts.sum(axis=0, dtype=np.int64)
    before = np.cumsum(in_bin) - in_bin
    size = max(BUCKET, n // MOST_BUCKETS)
    large = in_bin > size  # stays alone: its values are close together, and their words shall tell them apart
    begins = large | np.append(False, large[:-1]) | (np.diff(before // size, prepend=-1) != 0)
    bucket = (np.cumsum(begins) - 1).astype(np.int16)
    # A bucket holds what the first piece gives it, then the second's, so that equal values stay in order.
    given = np.add.reduceat(counts, np.flatnonzero(begins), axis=1, dtype=np.int64).T
    ends = np.cumsum(given).reshape(given.shape)
    first = (ends - given).T
    noticed = np.empty((len(first), 2))

    def move(part: slice) -> None:
        place = part.start // piece
        free = first[place].copy()  # threads must not write to one cache line
        noticed[place] = spread_pairs(
            x[part], bits[part], p[part], lowest, shift, bucket, free, into_x, into_p
        )

    over_pieces(move, n, piece=piece)
    return ends[:, -1], float(noticed[:, 0].sum()), float(noticed[:, 1].min())


def _bins(x: Floats) -> tuple[np.uint64, np.uint64]:
    """Where the bins begin, and the binary logarithm of their width, judged by a sample of the values."""
    from equivoc.measure.sorting_kernels import BINS, place_of

    sample = np.sort(x[:: max(len(x) // SAMPLE, 1)])
    aside = int(OUTLIERS * len(sample))
    low, high = (int(place_of(bits)) for bits in sample[[aside, -1 - aside]].view(np.int64))
    return np.uint64(low), np.uint64(max((high - low).bit_length() - BINS.bit_length() + 1, 0))


def _sort(x: Floats, p: Floats, into_x: Floats, into_p: Floats) -> bool:
    """Copy the pairs of one bucket in order. True if each value is above the one before."""
    from equivoc.measure.sorting_kernels import arrange, places_of, words_of

    bits = x.view(np.int64)
    with room(len(x)) as piece:
        words = piece.view(np.uint64)
        mask = words_of(bits, words)
        words.sort()
        rising, in_order = arrange(words, mask, x, p, into_x, into_p)
        if not in_order:
            places_of(bits, words)  # not the values: what is not a number has a place as well
            order = np.argsort(words, kind="stable")
            np.take(x, order, out=into_x)
            np.take(p, order, out=into_p)
    return bool(rising)
