"""P(level | symbol) and distances between levels and symbols of a released key, as tables of symbols × levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.beliefs.matching import BINS, distance_bins
from equivoc.intruder.files.released_symbols import NULL, Symbols

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
STEPS = 50


def members(key: Symbols, at: Floats) -> Flags:
    """Symbols × places: is the place in one of the symbol's intervals?"""
    found = np.zeros((len(key.labels), len(at)), dtype=bool)
    symbol = np.repeat(np.arange(len(key.labels)), np.diff(key.starts))
    for each, low, high in zip(symbol, key.lows, key.highs, strict=True):
        found[each] |= (at >= low) & (at <= high)
    return found


def level_chances(key: Symbols, people: Floats) -> Floats:
    """Symbols × levels: P(true level | symbol), for someone who knows how many ``people`` have each level.

    The table of records by symbol and true level is unknown, but its sums are known: the records of each symbol, and
    the people of each level. Of the tables with these sums that have records only where the level is possible, this
    is the most even one (iterative proportional fitting). So a star stands mostly for the levels that are missing among
    the other records. The row of a symbol without levels is all zeros.
    """
    table = members(key, key.line.at) * people
    expected = people * (key.records.sum() / people.sum())
    for _ in range(STEPS):
        table = table * _ratio(key.records, table.sum(axis=1))[:, None]
        table = table * _ratio(expected, table.sum(axis=0))
    return np.asarray(table * _ratio(np.ones(len(table)), table.sum(axis=1))[:, None])


def level_bins(key: Symbols) -> NDArray[np.int64]:
    """Symbols × levels: the bin of the distance from a level to a symbol (`beliefs.matching.distance_bins`).

    A number between two levels is at distance 0 from both; null is far from every number.
    """
    at = key.line.at
    inside = members(key, at)
    if not key.line.numeric:
        return distance_bins(inside, ordered=False)
    numbers = at < NULL
    for each in np.flatnonzero(~inside.any(axis=1)):
        low = key.lows[key.starts[each]]
        above = int(np.searchsorted(at[numbers], low))
        inside[each, [max(above - 1, 0), min(above, int(numbers.sum()) - 1)]] = low < NULL
    found = np.full(inside.shape, BINS - 1, dtype=np.int64)
    found[:, numbers] = distance_bins(inside[:, numbers], ordered=True)
    return np.where(inside, 0, found)


def _ratio(wanted: Floats | NDArray[np.int64], reached: Floats) -> Floats:
    return np.divide(wanted, reached, out=np.zeros(len(reached)), where=reached > 0)
