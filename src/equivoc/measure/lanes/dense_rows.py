"""Dense rows over a small grid: chooses the rows for the dense kernel and collects its results."""

from __future__ import annotations

import numpy as np

from equivoc.measure.input.arguments import Floats
from equivoc.measure.input.distribution import TIE_ROUNDING, TIE_SHARE
from equivoc.measure.input.rows import Ints, Rows
from equivoc.measure.parallel import over_pieces

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
    from equivoc.measure.lanes.dense_kernels import dense_rows

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
