"""P(mean | level) of an averaged key: levels nearer to a group's mean are more likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.even_grids import EvenGrid

Floats = NDArray[np.float64]
WIDTHS = (1.0, 2.0, 4.0)
"""How much narrower than σ groups may be. Surprise with these and with σ alone, 2,500 people with four averaged keys in
groups of ten, six keys known: 0.47 and 0.52 bits; with a register 0.35 and 0.44."""
FAR = 1e-5
"""The least weight of a level, relative to the nearest: an outlier may lie far from its group's mean."""


def near_the_mean(
    grid: EvenGrid, positions: NDArray[np.int64], means: Floats, records: NDArray[np.int64]
) -> Floats:
    """P(mean | level), up to a factor per mean: means × levels.

    Members lie around their group's mean y with the variance that averaging removed: ``exp(−(v − y)²/2σ²)`` with
    ``σ² = Var(key) − Var(released means)``, both over records. A few wide groups at the ends contribute most of that
    variance, so groups of width σ, σ/2 and σ/4 are taken as equally likely. No level weighs less than 1e-5 of the
    nearest one. ``positions`` are the records' true levels and ``means`` the released means, in steps of the grid;
    ``records`` is the number of records with each mean.

    >>> from equivoc.queries.even_grids import even_grid
    >>> pairs = np.array([2, 2])
    >>> near_the_mean(even_grid([0, 1, 4, 5]), np.array([0, 1, 4, 5]), np.array([0.5, 4.5]), pairs).round(4)
    array([[1., 1., 0., 0.],
           [0., 0., 1., 1.]])
    """
    shown = np.repeat(means, records)
    variance = float(positions.var() - shown.var())
    apart = (grid.positions - means[:, None]) ** 2
    if variance <= 1e-12 * float(positions.var()):  # groups of one value each: averaging changed nothing
        return np.asarray(apart == apart.min(axis=1, keepdims=True), dtype=np.float64)
    # By logarithms: if σ is small, all densities could underflow.
    logs = np.logaddexp.reduce([np.log(w) - apart * w**2 / (2 * variance) for w in WIDTHS])
    return np.asarray(np.maximum(np.exp(logs - logs.max(axis=1, keepdims=True)), FAR))
