"""Rank swapping: one swap for a release, and repeated swaps to estimate where values move. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Codes = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _below(state: NDArray[np.uint64], bound: int) -> int:
    """A random whole number from 0 to bound − 1; advances ``state`` (SplitMix64: Steele, Lea and Flood, 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return int((z >> np.uint64(11)) * 2.0**-53 * bound)


@njit(cache=True, nogil=True)
def exchange(places: Codes, window: int, state: NDArray[np.uint64]) -> Codes:
    """The partner with whom each record swaps its value, as an index into ``places``; its own index if it has none.

    ``places`` are the ascending ranks of the records that take part. In ascending order, each record without a partner
    draws one uniformly from the records without a partner at most ``window`` ranks above it.
    """
    count = len(places)
    partner = np.arange(count)
    above, taken = 0, 0  # the first record beyond the window; how many after the present one have a partner
    for low in range(count):
        if partner[low] != low:
            taken -= 1
            continue
        while above < count and places[above] <= places[low] + window:
            above += 1
        reach = above - low - 1
        if reach == taken:
            continue
        drawn = low + 1 + _below(state, reach)
        while partner[drawn] != drawn:
            drawn = low + 1 + _below(state, reach)
        partner[low], partner[drawn] = drawn, low
        taken += 1
    return partner


@njit(cache=True, nogil=True)
def count_moves(
    ranks: int,
    taking_part: Codes,
    window: int,
    block: int,
    row_of_block: Codes,
    state: NDArray[np.uint64],
    stays: NDArray[np.float64],
    moves: NDArray[np.float64],
) -> None:
    """Swap ``ranks`` ranks repeatedly; for the row of each block, count unmoved records and the moves by distance.

    ``taking_part`` has for each run the number of records that take part. ``moves`` has a column for each distance in
    blocks, from negative to positive; the middle one is for moves within the block.
    """
    order = np.arange(ranks)
    middle = moves.shape[1] // 2
    for count in taking_part:
        for i in range(count if count < ranks else 0):
            j = i + _below(state, ranks - i)
            order[i], order[j] = order[j], order[i]
        places = np.sort(order[:count]) if count < ranks else order
        partner = exchange(places, window, state)
        for i in range(count):
            here, there = places[i] // block, places[partner[i]] // block
            if partner[i] == i:
                stays[row_of_block[here]] += 1
            else:
                moves[row_of_block[here], middle + there - here] += 1
