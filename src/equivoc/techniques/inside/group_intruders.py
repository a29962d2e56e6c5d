"""The posterior of group members in groups that do not overlap, where sums cannot be counted in steps of one grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Computed, divide_rows
from equivoc.checks import check_memory
from equivoc.intruder.posteriors import ranges
from equivoc.systems.grids import MOST_MULTIPLICATIONS, EvenGrid, log_sums, too_many_sums
from equivoc.techniques.inside.near_sums import REACH, GroupMeans, Windows, feasible

# P(mean | level) of an averaged key: levels nearer to a group's mean are more likely.

Floats = NDArray[np.float64]
WIDTHS = (1.0, 2.0, 4.0)
"""How much narrower than σ groups may be. Surprise with these and with σ alone, 2,500 people with four averaged keys in
groups of ten, six keys known: 0.47 and 0.52 bits; with a register 0.35 and 0.44."""
FAR = 1e-5
"""The least weight of a level, relative to the nearest: an outlier may lie far from its group's mean."""


@dataclass(frozen=True, eq=False)
class NearTheMean:
    """`near_the_mean` of an averaged key, computed when it is first needed."""

    released: GroupMeans
    counts: NDArray[np.int64] = field(repr=False)
    """How many records have each level."""

    @cached_property
    def _table(self) -> Floats:
        released = self.released
        check_memory(
            "the evidence of an averaged key",
            rows=len(released),
            columns=len(released.levels.values),
            advice="round the key, or let fewer keys be known",
        )
        places = released.levels.places
        return near_the_mean(
            places, np.repeat(places, self.counts), released.places, records=released.sizes * released.groups
        )

    def dense(self) -> Floats:
        return self._table


def near_the_mean(
    levels: NDArray[Any], positions: NDArray[Any], means: Floats, *, records: NDArray[np.int64]
) -> Floats:
    """P(mean | level), up to a factor per mean: means × levels.

    Members lie around their group's mean y with the variance that averaging removed: ``exp(−(v − y)²/2σ²)`` with
    ``σ² = Var(key) − Var(released means)``, both over records. A few wide groups at the ends contribute most of that
    variance, so groups of width σ, σ/2 and σ/4 are taken as equally likely. No level weighs less than 1e-5 of the
    nearest one. ``positions`` are the records' true values and ``means`` the released means; ``records`` is the number
    of records with each mean.

    >>> ages = np.array([0, 1, 4, 5])
    >>> near_the_mean(ages, ages, np.array([0.5, 4.5]), records=np.array([2, 2])).round(4)
    array([[1., 1., 0., 0.],
           [0., 0., 1., 1.]])
    """
    shown = np.repeat(means, records)
    variance = float(positions.var() - shown.var())
    apart = (levels - means[:, None]) ** 2
    if variance <= 1e-12 * float(positions.var()):  # groups of one value each: averaging changed nothing
        return np.asarray(apart == apart.min(axis=1, keepdims=True), dtype=np.float64)
    # By logarithms: if σ is small, all densities could underflow.
    logs = np.logaddexp.reduce([np.log(w) - apart * w**2 / (2 * variance) for w in WIDTHS])
    return np.asarray(np.maximum(np.exp(logs - logs.max(axis=1, keepdims=True)), FAR))


# The posterior of a group member, given the group's sum.

MOST_CHANNEL_ENTRIES = 6e7
"""Pairs of size and sum times values: half a gigabyte."""
FEW_TERMS = 3e8
"""Multiplications of `sum_channel`: a second or less."""


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

    >>> from equivoc.systems.grids import even_grid
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


def can_count_sums(grid: EvenGrid, sizes: NDArray[np.int64], *, patient: bool) -> bool:
    """True if `sum_channel` takes a second or two, or if ``patient`` some ten seconds, and half a gigabyte."""
    return (
        not too_many_sums(grid, int(sizes.max()), most=MOST_MULTIPLICATIONS if patient else FEW_TERMS)
        and len(sizes) * len(grid.positions) <= MOST_CHANNEL_ENTRIES
    )


# The posterior of group members, given the sums of groups that do not overlap.

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

    >>> from equivoc.systems.grids import even_grid
    >>> pairs, once = np.array([2, 2]), np.array([1, 1])
    >>> order_channel(even_grid([0, 1, 2, 3, 4]), pairs, np.array([2, 4]), once).round(3)
    array([[0.2, 0.6, 0.2, 0. , 0. ],
           [0. , 0.2, 0.6, 0.2, 0. ]])
    """
    from equivoc.techniques.inside.order_kernels import members_in_order

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


FEWEST_STEPS, MOST_STEPS = 24, 4096
WORK = 4e8
"""Terms that are added: a second or less."""
WORK_PER_PERSON = 2_000
MOST_ENTRIES = 4e7
SAME = 1e-12
"""Relative to the values: means that differ by less are those of equal values, added in another order."""


@dataclass(frozen=True, eq=False)
class NearGroupsInOrder(Computed):
    """P(a member's value | sizes and sums of all groups, which do not overlap), on a short grid for each group.

    The same as `order_channel`, except that values in a group's window are moved to the nearest of
    ``steps`` steps, and the sum is compared with the tolerance that this takes (`near_sums`).
    """

    released: GroupMeans

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.released), len(self.released.levels.values)

    @cached_property
    def windows(self) -> Windows:
        return between_neighbours(self.released)

    @cached_property
    def steps(self) -> int:
        """Into how many steps a window is divided; 0 if the groups are too large."""
        released, windows = self.released, self.windows
        places = np.asarray(released.levels.places, dtype=np.float64)
        low, high = places[windows.begin], places[windows.end - 1]
        part = np.where(high > low, (released.places - low) / np.maximum(high - low, 1e-300), 0.0)
        levels = (windows.end - windows.begin).astype(np.float64)
        per_step = levels * released.sizes * released.sizes * part
        work = WORK + WORK_PER_PERSON * float(released.sizes @ released.groups)
        steps = min(
            work / max(float(per_step @ released.sizes) / 2, 1e-9), MOST_ENTRIES / max(per_step.max(), 1e-9)
        )
        return 0 if steps < FEWEST_STEPS else int(min(steps, MOST_STEPS))

    def table(self, prior: Floats) -> Any:
        from scipy.sparse import csr_array

        windows = self.windows
        found = self._members(prior)
        total = np.bincount(windows.row, found, minlength=len(self.released))
        if (total <= 0).any():
            found = self._members(np.ones(len(prior)))
            total = np.bincount(windows.row, found, minlength=len(self.released))
        found = np.where(total[windows.row] > 0, found, 1.0)
        total = np.bincount(windows.row, found, minlength=len(self.released))
        bounds = np.concatenate([[0], np.cumsum(windows.end - windows.begin)])
        return csr_array((found / total[windows.row], windows.level, bounds), shape=self.shape)

    @property
    def rounds(self) -> bool:
        """True if values are moved to the nearest of `steps` steps."""
        return not self._exact(self.windows).all()

    def _exact(self, windows: Windows) -> NDArray[np.bool_]:
        """Of each group, whether its window has no more steps of the values' own grid."""
        places = self.released.levels.places
        on_grid = self.released.levels.grid is not None
        return np.asarray(places[windows.end - 1] - places[windows.begin] <= (self.steps if on_grid else 0))

    def _members(self, prior: Floats) -> Floats:
        """For each pair of a row and a level of its window."""
        from equivoc.techniques.inside.near_order_kernels import near_members_in_order

        released = self.released
        up = np.argsort(released.places, kind="stable")
        windows = self.windows.part(up)
        sizes, row = released.sizes[up], windows.row
        places = np.asarray(released.levels.places, dtype=np.float64)
        low = places[windows.begin]
        span = places[windows.end - 1] - low
        exact = self._exact(self.windows.part(up))
        width = np.where(exact, 1.0, span / self.steps)
        steps = np.rint((places[windows.level] - low[row]) / width[row]).astype(np.int64)
        aims = (released.sums[up] - sizes * low) / width
        spreads = np.where(exact, 0.0, np.sqrt(sizes / 12.0))
        reaches = np.where(exact, 0.5, np.ceil(REACH * spreads) + 1)
        weights = prior[windows.level]
        largest = np.zeros(len(sizes))
        np.maximum.at(largest, row, weights)
        weights = np.where(largest[row] > 0, weights / np.where(largest > 0, largest, 1.0)[row], 1.0)
        found = near_members_in_order(
            steps,
            weights,
            sizes,
            np.where(exact, np.rint(aims), np.maximum(aims, 0.0)),
            spreads,
            reaches,
            windows.begin,
            windows.end,
        )
        bounds = np.concatenate([[0], np.cumsum(windows.end - windows.begin)])
        back = np.argsort(up)
        return np.asarray(found[ranges(bounds[back], bounds[back + 1])])


def between_neighbours(released: GroupMeans) -> Windows:
    """For each group the levels between the means of the groups before and after it, by its mean.

    Groups with equal means hold only that value, whatever their order.
    """
    means = released.places
    up = np.argsort(means, kind="stable")
    ordered, alone = means[up], released.groups[up] == 1
    before = np.concatenate([[-np.inf], ordered[:-1]])
    after = np.concatenate([ordered[1:], [np.inf]])
    low, high = np.empty(len(means)), np.empty(len(means))
    low[up], high[up] = np.where(alone, before, ordered), np.where(alone, after, ordered)
    places = np.asarray(released.levels.places, dtype=np.float64)
    low, high = np.maximum(low, places[0]), np.minimum(high, places[-1])
    spare = SAME * np.maximum(np.abs(low), np.abs(high))
    return feasible(places, released.sizes, released.sums, low - spare, high + spare)
