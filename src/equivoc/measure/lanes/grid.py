"""The differences of a grid's values: the only tolerances at which H of a row can change."""

from __future__ import annotations

import numpy as np

from equivoc.measure.input.arguments import Floats
from equivoc.measure.input.distribution import TIE_ROUNDING, TIE_SHARE
from equivoc.measure.search.jumps import last_of_ties

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
