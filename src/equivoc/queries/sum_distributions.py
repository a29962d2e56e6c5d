"""Distribution of the sum of several records, accurate in the tails: repeated convolution of a prior."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.even_grids import EvenGrid

_MOST_MULTIPLICATIONS = 6e9
_SHORTEST_SEGMENT = 256
# exp of anything below this underflows in float64.
_LEAST_SAFE_LOG = -690.0


def log_sums(grid: EvenGrid, belief: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Logarithms of ``N_0``, ``N_1``, ``N_2``, … without end, ``N_l`` the distribution of the sum of l records.

    Each is over the sums 0, 1, … steps above the least one; −inf: impossible. ``belief`` has a probability for each
    of the grid's values.

    >>> from itertools import islice
    >>> from equivoc.queries.even_grids import even_grid
    >>> for log in islice(log_sums(even_grid([0, 1]), np.array([0.5, 0.5])), 3):
    ...     print(np.exp(log))
    [1.]
    [0.5 0.5]
    [0.25 0.5  0.25]
    """
    total = np.zeros(1)
    while True:
        yield total
        total = log_convolve(total, grid, belief)


def too_many_sums(grid: EvenGrid, records: int) -> bool:
    """True if the distribution of the sum of so many records would take minutes to compute."""
    return records * (records * grid.steps + 1) * (grid.steps + 1.0) > _MOST_MULTIPLICATIONS


def log_convolve(
    log_sums: NDArray[np.float64], grid: EvenGrid, belief: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Logarithm of the distribution with one more record, computed in segments of the sums.

    Each segment is convolved in plain numbers relative to its own peak: the whole range of a sum of hundreds
    of records does not fit float64, a segment nearly always does. Only positive terms are added, so that the
    smallest tail keeps its relative accuracy (a Fourier transform would lose it).
    """
    on_grid = np.zeros(grid.steps + 1)
    on_grid[grid.positions] = belief
    log_least = float(np.log(belief[belief > 0].min()))
    result = np.full(len(log_sums) + grid.steps, -np.inf)
    segment = max(grid.steps + 1, _SHORTEST_SEGMENT)
    for start in range(0, len(result), segment):
        before = max(0, start - grid.steps)
        source = log_sums[before : start + segment]
        possible = source[source > -np.inf]
        if len(possible) == 0:
            continue
        peak = possible.max()
        target = result[start : start + segment]
        if possible.min() - peak + log_least > _LEAST_SAFE_LOG:
            with np.errstate(divide="ignore"):
                relative = np.log(np.convolve(np.exp(source - peak), on_grid))
            target[:] = relative[start - before : start - before + len(target)] + peak
        else:
            target[:] = _log_space_segment(source, grid, belief)[
                start - before : start - before + len(target)
            ]
    return result


def _log_space_segment(
    source: NDArray[np.float64], grid: EvenGrid, belief: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The same convolution if even a segment would underflow: slower, one value at a time."""
    result = np.full(len(source) + grid.steps, -np.inf)
    for position, probability in zip(grid.positions, belief, strict=True):
        if probability > 0:
            reached = result[position : position + len(source)]
            np.logaddexp(reached, source + np.log(probability), out=reached)
    return result
