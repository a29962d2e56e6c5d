"""Dense rows over a small grid: chooses the rows for the dense kernel and collects its results."""

from __future__ import annotations

import numpy as np

from equivoc.measure.distribution import TIE_ROUNDING, TIE_SHARE, Floats, Ints, Rows
from equivoc.measure.jumps import last_of_ties
from equivoc.parallel import over_pieces

WIDEST_GRID = 64
FEWEST_ROWS = 2048
"""With fewer rows, the dense kernel is not worth the seconds that its compilation takes."""
PIECE = 8192


def mostly_filled(rows: Rows) -> bool:
    """True for many dense rows over a small grid in which most values have positive probability."""
    if not rows.dense or not 1 < rows.width <= WIDEST_GRID or len(rows) < FEWEST_ROWS:
        return False
    sample = rows.matrix()[:: max(1, len(rows) // 1000)]
    return bool(np.count_nonzero(sample) > sample.size / 3)


def dense_figures(
    rows: Rows, which: Ints, grid: Floats, epsilons: Floats, entropies: Floats
) -> tuple[Floats, Floats, Floats]:
    """h0, area and ε_max of the rows ``which``; ``entropies`` is filled with H at ``epsilons`` if it has columns."""
    from equivoc.measure.lane_kernels import dense_rows

    table, totals = rows.matrix(), rows.totals
    starts, steps = _window_starts(grid, epsilons[:-1]), np.diff(epsilons)
    h0, area, spread = (np.empty(len(which)) for _ in range(3))

    def work(part: slice) -> None:
        dense_rows(table, totals, which[part], starts, steps, h0[part], area[part], entropies[part])
        spread[part] = _spreads(table, which[part], grid)
        # A single value is certain even if rounding made its probability less than 1.
        certain = spread[part] == 0
        h0[part][certain] = area[part][certain] = entropies[part][certain] = 0.0

    over_pieces(work, len(which), piece=PIECE)
    return h0, area, spread


def _spreads(table: Floats, which: Ints, grid: Floats) -> Floats:
    """From the lowest to the highest value of positive weight; most rows have the lowest and the highest of all."""
    spreads = np.full(len(which), grid[-1] - grid[0])
    narrower = np.flatnonzero((table[which, 0] <= 0) | (table[which, -1] <= 0))
    positive = table[which[narrower]] > 0
    last = len(grid) - 1 - positive[:, ::-1].argmax(axis=1)
    spreads[narrower] = grid[last] - grid[positive.argmax(axis=1)]
    return spreads


def _window_starts(grid: Floats, epsilons: Floats) -> Ints:
    """For each ε and grid position: the first position covered by a window of length ε that ends there."""
    rounding = TIE_ROUNDING * max(abs(float(grid[0])), abs(float(grid[-1])))
    reach = epsilons + np.minimum(rounding, TIE_SHARE * epsilons)
    too_far = (grid[:, None] - grid)[None] > reach[:, None, None]
    starts: Ints = too_far.sum(axis=2)
    return starts


# Finds equal rows, so that each distinct row is measured once.


def distinct_rows(rows: Rows) -> tuple[Ints, Ints]:
    """The distinct rows, and for each row the number of the distinct row that it equals."""
    from equivoc.measure import lane_kernels as kernels

    prints = np.empty(len(rows), np.uint64)
    kernels.row_hashes(rows.weights, rows.positions, rows.bounds, prints)
    ascending = np.sort(prints)
    if not (ascending[1:] == ascending[:-1]).any():  # all rows are distinct
        every = np.arange(len(rows))
        return every, every
    _, representative, of = np.unique(prints, return_index=True, return_inverse=True)
    same = np.empty(len(rows), np.bool_)
    kernels.same_rows(rows.weights, rows.positions, rows.bounds, representative[of], same)
    if not same.all():  # different rows with the same hash: treat each as distinct
        strays = np.flatnonzero(~same)
        of[strays] = len(representative) + np.arange(len(strays))
        representative = np.concatenate((representative, strays))
    return representative.astype(np.int64), of.astype(np.int64)


# The differences of a grid's values: the only tolerances at which H of a row can change.

MOST_DIFFERENCES = 4096
"""H is not tabulated at every difference of a grid with more distinct differences than this."""


def grid_differences(grid: Floats) -> Floats | None:
    """The grid's distinct differences, ascending from 0; None if there are more than MOST_DIFFERENCES.

    Differences equal up to rounding count as one, the largest of them.
    """
    rounding = TIE_ROUNDING * max(abs(float(grid[0])), abs(float(grid[-1])))
    found = np.zeros(1)
    for lag in range(1, len(grid)):
        found = np.unique(np.concatenate((found, grid[lag:] - grid[:-lag])))
        if len(found) > MOST_DIFFERENCES:
            surely = 1 + np.count_nonzero(np.diff(found) > np.minimum(rounding, TIE_SHARE * found[:-1]))
            if surely > MOST_DIFFERENCES or len(found) > 16 * MOST_DIFFERENCES:
                return None
    distinct = found[last_of_ties(found, rounding)]
    return distinct if len(distinct) <= MOST_DIFFERENCES else None
