"""The posterior of a group member, given the group's sum."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Computed
from equivoc.intruder.channel.inversion import divide_rows
from equivoc.queries.even_grids import EvenGrid
from equivoc.queries.sum_distributions import log_sums, too_many_sums

MOST_CHANNEL_ENTRIES = 6e7
"""Pairs of size and sum times values: half a gigabyte."""


@dataclass(frozen=True, eq=False)
class GroupSums(Computed):
    """P(a member's value | the group's size and sum); see `sum_channel`."""

    grid: EvenGrid = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    sums: NDArray[np.int64] = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sums), len(self.grid.positions)

    def table(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        return sum_channel(self.grid, self.sizes, self.sums, prior=prior)


def sum_channel(
    grid: EvenGrid,
    sizes: NDArray[np.int64],
    sums: NDArray[np.int64],
    *,
    prior: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """P(a member has each of the grid's values | the group's size and sum), a row per pair of size and sum.

    ``sums`` are counted in steps above the least value, ``sizes`` are at least 1. Members are independent draws from
    the prior (None: all values equally likely): ``P(v | g, s) ∝ prior(v) · N_(g−1)(s − v)``, ``N_l(t)`` the
    probability that l values add up to t. For a sum that cannot occur under the prior, a uniform prior is used.

    >>> from equivoc.queries.even_grids import even_grid
    >>> sum_channel(even_grid([0, 1, 2]), np.array([2, 3]), np.array([1, 2])).round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.5  , 0.333, 0.167]])
    """
    values = len(grid.positions)
    channel = np.empty((len(sums), values))
    uniform = np.full(values, 1.0 / values)
    belief = uniform if prior is None else prior
    with np.errstate(divide="ignore"):
        log_belief = np.log(belief)
    for others, log_rest in zip(range(int(sizes.max())), log_sums(grid, belief), strict=False):
        of_size = np.flatnonzero(sizes == others + 1)
        rest = sums[of_size, None] - grid.positions
        possible = (rest >= 0) & (rest < len(log_rest))
        weights = log_belief + np.where(possible, log_rest[np.where(possible, rest, 0)], -np.inf)
        peak = weights.max(axis=1, keepdims=True, initial=-np.inf)
        weights = np.exp(weights - np.where(peak > -np.inf, peak, 0.0))
        channel[of_size] = divide_rows(weights, weights.sum(axis=1))
    impossible = ~channel.any(axis=1)
    if impossible.any() and prior is not None:
        channel[impossible] = sum_channel(grid, sizes[impossible], sums[impossible])
    return channel


def check_sums(grid: EvenGrid, sizes: NDArray[np.int64], *, name: str) -> None:
    """InputError if the grid of the attribute ``name`` is too fine for `sum_channel`."""
    largest = int(sizes.max())
    if too_many_sums(grid, largest) or len(sizes) * len(grid.positions) > MOST_CHANNEL_ENTRIES:
        raise too_fine(grid, largest, name=name)


def too_fine(grid: EvenGrid, largest: int, *, name: str) -> InputError:
    """The error about an attribute with too many steps for groups of this size."""
    return InputError(
        f"microaggregation: {name!r} spans {grid.steps} steps of {grid.step:g}, too many to compute the posterior "
        f"from the sums of groups of {largest}: round it to a coarser grid (round_to, for the confidential column)."
    )
