"""Many values with their probabilities in ascending order of value, on all cores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.parallel import cores, over_pieces

Floats = NDArray[np.float64]

KERNELS_FROM = 1 << 17
"""Below this many pairs, which a core can keep near itself, NumPy alone is as fast."""
BUCKET = 1 << 15
"""Pairs in a bucket: what a core keeps near itself while it puts them in order."""
MOST_BUCKETS = 1 << 8
SAMPLE = 1 << 12
OUTLIERS = 1 / 64
"""This share of the sample at either end does not widen the bins."""


def sorted_pairs(x: Floats, p: Floats) -> tuple[Floats, Floats]:
    """``x`` in ascending order and ``p`` along with it, always in the same way.

    The pairs are spread over buckets, each with values above those of the last. Within a bucket NumPy sorts words that
    hold a value's leading bits and its index: it sorts whole numbers several times faster than it sorts indices.

    >>> x, p = sorted_pairs(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.2, 0.3]))
    >>> x.tolist(), p.tolist()
    ([1.0, 2.0, 3.0], [0.2, 0.3, 0.5])
    """
    if len(x) < KERNELS_FROM:
        order = np.argsort(x)
        return x[order], p[order]
    if _in_order(x[:1000]) and _in_order(x):  # values in any order are told by the first few
        return x, p
    x, p, ends = _in_buckets(x, p)
    buckets = [slice(begin, end) for begin, end in pairwise([0, *ends.tolist()]) if begin < end]

    def sort(part: slice) -> None:
        for bucket in buckets[part]:
            _sort_in_place(x[bucket], p[bucket])

    over_pieces(sort, len(buckets), piece=1)
    return x, p


def _in_order(x: Floats) -> bool:
    return bool((x[1:] >= x[:-1]).all())


def _in_buckets(x: Floats, p: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The pairs bucket by bucket, and where each bucket ends.

    Bins of equal width, in the order of the doubles' bits, are joined to buckets of about equal size.
    """
    from equivoc.measure.sorting_kernels import BINS, count_bins, spread

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
    into_x, into_p = np.empty_like(x), np.empty_like(p)

    def move(part: slice) -> None:
        free = first[part.start // piece].copy()  # threads must not write to one cache line
        spread(x[part], bits[part], p[part], lowest, shift, bucket, free, into_x, into_p)

    over_pieces(move, n, piece=piece)
    return into_x, into_p, ends[:, -1]


def _bins(x: Floats) -> tuple[np.uint64, np.uint64]:
    """Where the bins begin, and the binary logarithm of their width, judged by a sample of the values."""
    from equivoc.measure.sorting_kernels import BINS, place_of

    sample = np.sort(x[:: max(len(x) // SAMPLE, 1)])
    aside = int(OUTLIERS * len(sample))
    low, high = (int(place_of(bits)) for bits in sample[[aside, -1 - aside]].view(np.int64))
    return np.uint64(low), np.uint64(max((high - low).bit_length() - BINS.bit_length() + 1, 0))


def _sort_in_place(x: Floats, p: Floats) -> None:
    from equivoc.measure.sorting_kernels import mend

    bits, words = x.view(np.int64), np.empty(len(x), np.uint64)

    def sort(*, leading: bool) -> None:
        from equivoc.measure.sorting_kernels import arrange, words_of

        if mask := words_of(bits, leading, words):
            words.sort()
            arrange(words, mask, x, p)

    sort(leading=True)
    if not mend(x, p):
        sort(leading=False)
        sort(leading=True)  # keeps the order of the other bits where the leading ones are equal
