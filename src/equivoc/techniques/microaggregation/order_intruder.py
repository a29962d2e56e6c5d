"""The posterior of group members, given the sums of groups that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.channel.channel import Computed
from equivoc.queries.even_grids import EvenGrid
from equivoc.techniques.microaggregation.sum_intruder import MOST_CHANNEL_ENTRIES, too_fine

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST_TERMS = 3e9
_MOST_TABLE_ENTRIES = 4e7


@dataclass(frozen=True, eq=False)
class GroupsInOrder(Computed):
    """P(a member's value | sizes and sums of all groups, which do not overlap); see `order_channel`."""

    grid: EvenGrid = field(repr=False)
    sizes: Ints = field(repr=False)
    sums: Ints = field(repr=False)
    groups: Ints = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sums), len(self.grid.positions)

    def table(self, prior: Floats) -> Floats:
        return order_channel(self.grid, self.sizes, self.sums, self.groups, prior=prior)


def order_channel(
    grid: EvenGrid, sizes: Ints, sums: Ints, groups: Ints, *, prior: Floats | None = None
) -> Floats:
    """P(a member has each of the grid's values | every group's size and sum, and that no two groups overlap).

    A row per pair of size and sum; ``groups`` is the number of groups with each pair. ``sums`` are counted in steps
    above the least value. Members are independent draws from the prior (None: all values equally likely), given that,
    in the order of the means, no member is above one of the next group. So a group lies between its neighbours' means,
    and all members of groups with equal means have that mean as their value: equal pairs have equal rows. With
    ``E_j(a, b)`` the weight of all tuples of group j's size and sum with least value a and greatest b (the product of
    their members' priors), the weight of b as the end of groups 1 … j is
    ``F_j(b) = Σ_a E_j(a, b) · Σ_(b' ≤ a) F_(j−1)(b')``; likewise from the top.

    If the sums cannot occur under the prior, a uniform prior is used.

    >>> from equivoc.queries.even_grids import even_grid
    >>> pairs, once = np.array([2, 2]), np.array([1, 1])
    >>> order_channel(even_grid([0, 1, 2, 3, 4]), pairs, np.array([2, 4]), once).round(3)
    array([[0.2, 0.6, 0.2, 0. , 0. ],
           [0. , 0.2, 0.6, 0.2, 0. ]])
    """
    from equivoc.techniques.microaggregation.order_kernels import members_in_order

    belief = np.ones(len(grid.positions)) if prior is None else prior / prior.max()
    used = np.flatnonzero(belief > 0)  # a value of prior 0 is not on the grid
    positions = grid.positions[used]
    chain = _Chain.of(positions, sizes, sums, groups)
    if chain.possible(positions):
        members = members_in_order(
            positions, np.log(belief[used]), chain.sizes, chain.sums, chain.begin, chain.end
        )
        if prior is None or np.isfinite(members).all():
            found = np.zeros((len(sums), len(grid.positions)))
            found[:, used] = members[np.argsort(chain.up)]
            return found
    return order_channel(grid, sizes, sums, groups)


def in_reach(grid: EvenGrid, sizes: Ints, sums: Ints, groups: Ints) -> bool:
    """True if `order_channel` takes seconds, not minutes; this depends on the sizes only."""
    chain = _Chain.of(grid.positions, sizes, sums, groups)
    entries = (
        (chain.end - chain.begin)
        * chain.sizes
        * (chain.sums - chain.sizes * grid.positions[chain.begin] + 1.0)
    )
    return bool(
        len(sums) * len(grid.positions) <= MOST_CHANNEL_ENTRIES
        and entries.max() <= _MOST_TABLE_ENTRIES
        and entries @ chain.sizes <= _MOST_TERMS
    )


def check_order_in_reach(grid: EvenGrid, sizes: Ints, sums: Ints, groups: Ints, *, name: str) -> None:
    """InputError if the grid of the attribute ``name`` is too fine for `order_channel`."""
    if not in_reach(grid, sizes, sums, groups):
        raise too_fine(grid, int(sizes.max()), name=name)


@dataclass(frozen=True, eq=False)
class _Chain:
    """The groups in the order of their means, and the range of possible levels of each: begin to end − 1."""

    up: Ints
    sizes: Ints
    sums: Ints
    begin: Ints
    end: Ints

    @classmethod
    def of(cls, positions: Ints, sizes: Ints, sums: Ints, groups: Ints) -> _Chain:
        up = np.argsort(sums / sizes, kind="stable")
        size, total = sizes[up], sums[up]
        alone = groups[up] == 1
        floor, ceiling = total // size, -(-total // size)
        low = np.where(alone, np.concatenate([[0], ceiling[:-1]]), ceiling)
        high = np.where(alone, np.concatenate([floor[1:], positions[-1:]]), floor)
        # The least possible level of a member: all others have the highest. The greatest: all others have the lowest.
        low, high = np.maximum(low, total - (size - 1) * high), np.minimum(high, total - (size - 1) * low)
        begin = np.searchsorted(positions, low, side="left")
        return cls(up, size, total, begin, np.searchsorted(positions, high, side="right"))

    def possible(self, positions: Ints) -> bool:
        """False if some group has no possible level, or a sum that its levels cannot reach."""
        if not (self.begin < self.end).all():
            return False
        least, most = self.sizes * positions[self.begin], self.sizes * positions[self.end - 1]
        return bool(((least <= self.sums) & (self.sums <= most)).all())
