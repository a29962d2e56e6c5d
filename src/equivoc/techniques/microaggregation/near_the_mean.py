"""How likely each level of an averaged key is shown as a group's mean: the nearer, the likelier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.even_grids import EvenGrid

Floats = NDArray[np.float64]


def near_the_mean(
    grid: EvenGrid, positions: NDArray[np.int64], means: Floats, records: NDArray[np.int64]
) -> Floats:
    """P(mean | level), up to a factor per mean: means × levels.

    Members lie around their group's mean y with the variance that averaging took away: ``exp(−(v − y)²/2σ²)`` with
    ``σ² = Var(key) − Var(released means)``, both over records. ``positions`` are the records' own, ``means`` the
    released ones, in steps of the grid; ``records`` says how many records show each.

    >>> from equivoc.queries.even_grids import even_grid
    >>> pairs = np.array([2, 2])
    >>> near_the_mean(even_grid([0, 1, 4, 5]), np.array([0, 1, 4, 5]), np.array([0.5, 4.5]), pairs).round(4)
    array([[1., 1., 0., 0.],
           [0., 0., 1., 1.]])
    """
    shown = np.repeat(means, records)
    variance = float(positions.var() - shown.var())
    apart = (grid.positions - means[:, None]) ** 2
    # The nearest level of each mean weighs 1: where little was averaged away, far ones could underflow, it cannot.
    beyond = apart - apart.min(axis=1, keepdims=True)
    if variance <= 1e-12 * float(positions.var()):  # groups of one value each: nothing was averaged away
        return np.asarray(beyond == 0, dtype=np.float64)
    return np.asarray(np.exp(-beyond / (2 * variance)))
