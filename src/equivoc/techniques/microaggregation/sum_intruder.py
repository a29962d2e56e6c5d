"""The posterior of a group member, given the group's sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.queries.even_grids import EvenGrid
from equivoc.queries.sum_distributions import log_sums, too_many_sums

MOST_CHANNEL_ENTRIES = 6e7
"""Pairs of size and sum times values: half a gigabyte."""


def sum_channel(
    grid: EvenGrid, sizes: NDArray[np.int64], sums: NDArray[np.int64], *, name: str
) -> NDArray[np.float64]:
    """P(a member has each of the grid's values | the group's size and sum), a row per pair of size and sum.

    ``sums`` are counted in steps above the least value, ``sizes`` are at least 1. With all values equally likely
    beforehand, ``P(v | g, s) ∝ N_(g−1)(s − v)``, ``N_l(t)`` the number of ways in which l values add up to t.
    ``name`` is the attribute's, for the error about too fine a grid.

    >>> from equivoc.queries.even_grids import even_grid
    >>> sum_channel(even_grid([0, 1, 2]), np.array([2, 3]), np.array([1, 2]), name="pay").round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.5  , 0.333, 0.167]])
    """
    values = len(grid.positions)
    largest = int(sizes.max())
    if too_many_sums(grid, largest) or len(sums) * values > MOST_CHANNEL_ENTRIES:
        raise too_fine(grid, largest, name=name)
    channel = np.empty((len(sums), values))
    prior = np.full(values, 1.0 / values)
    for others, log_rest in zip(range(largest), log_sums(grid, prior), strict=False):
        of_size = np.flatnonzero(sizes == others + 1)
        rest = sums[of_size, None] - grid.positions
        possible = (rest >= 0) & (rest < len(log_rest))
        weights = np.where(possible, log_rest[np.where(possible, rest, 0)], -np.inf)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True, initial=-np.inf))
        channel[of_size] = weights / weights.sum(axis=1, keepdims=True)
    return channel


def too_fine(grid: EvenGrid, largest: int, *, name: str) -> InputError:
    """The error about an attribute with too many steps for groups of this size."""
    return InputError(
        f"microaggregation: {name!r} spans {grid.steps} steps of {grid.step:g}, too many to work out what the sums "
        f"of groups of {largest} give away: round it to a coarser grid (round_to, for the confidential column)."
    )
