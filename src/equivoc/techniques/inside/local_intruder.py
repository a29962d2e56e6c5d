"""The posterior of a group member, given the group's sum and that members lie near their group's mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Channel, Computed
from equivoc.intruder.prior import LEAST
from equivoc.techniques.inside.group_intruders import (
    GroupsInOrder,
    GroupSums,
    NearGroupsInOrder,
    between_neighbours,
    can_count_sums,
    in_reach,
)
from equivoc.techniques.inside.near_sums import GroupMeans, Windows, feasible, members, rounded, steps_for

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEIGHBOURS = 3
FAR = 12.0
"""Standard deviations from the mean beyond which no member is expected."""
WIDE, NARROW = 0.1, 0.9
"""The shares of groups that are four times as wide as σ, and, divided by the number of columns, half as wide: in few
columns a few wide groups have most of the variance, in many columns groups are more alike."""
LEAST_DISTANCE = 0.25
"""Of the mean distance: groups of discrete values may have the same means as others, and are not therefore narrow."""
SOFT = 0.5
"""Of 0.1 to 1, the best for groups of 3 to 100 optimal ones among 1,080 to 10,000 lognormal incomes."""
MOST_STORED = 2e7
"""Probabilities that are kept in memory; more are computed again, some rows at a time."""
AT_A_TIME = 2**22


@dataclass(frozen=True, eq=False)
class SumsNearMeans(Computed):
    """P(a member's value | the group's sum), members expected round their group's mean.

    Before the sum is known, a member of group g with mean y has value v with
    ``ρ_g(v) ∝ prior(v)·exp(−(v − y)²/2σ_g²)`` and ``σ_g² ∝ D_g``, D_g the root mean square distance to the nearest
    other groups. The scale is such that the variance within groups is Var − Var(means): what averaging removed, by the
    prior and the released means alone. Without ``distances`` members are expected wherever the prior has them, as by
    `group_intruders.sum_channel`.
    """

    released: GroupMeans
    distances: Floats | None = field(default=None, repr=False)
    """Of each pair of size and sum, D; None: members may be anywhere."""
    columns: int = 1
    """How many columns were averaged in the same groups."""
    in_order: bool = False
    """True if no two groups overlap: members lie between the neighbouring groups' means, on the group's side of the
    points where it meets its neighbours (`_meeting`)."""

    @property
    def _widths(self) -> tuple[tuple[float, float], ...]:
        """How much narrower than σ groups may be, and how likely that is."""
        narrow = NARROW / self.columns
        return (0.25, WIDE), (1.0, 1 - WIDE - narrow), (2.0, narrow)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.released), len(self.released.levels.values)

    @property
    def steps(self) -> int:
        """Into how many steps the window of a group is divided."""
        return steps_for(self._records)

    @property
    def rounds(self) -> bool:
        """True if values are moved to the nearest of `steps` steps."""
        return rounded(self._places, self._windows[0], steps=self.steps, step=self._step)

    @property
    def _step(self) -> float:
        return 0.0 if self.released.levels.grid is None else 1.0

    @property
    def _records(self) -> int:
        return int(self.released.sizes @ self.released.groups)

    @cached_property
    def _places(self) -> Floats:
        return np.asarray(self.released.levels.places, dtype=np.float64)

    @cached_property
    def _windows(self) -> tuple[Windows, Floats | None]:
        """Where members may lie, and each group's σ (None: anywhere)."""
        released, places = self.released, self._places
        low, high = np.full(len(released), places[0]), np.full(len(released), places[-1])
        sigma = None
        if self.distances is not None:
            sigma = widths(released, self.distances, self.prior, columns=self.columns)
            low, high = (
                np.maximum(low, released.places - FAR * sigma),
                np.minimum(high, released.places + FAR * sigma),
            )
        windows = feasible(places, released.sizes, released.sums, low, high)
        if self.in_order:
            held = between_neighbours(released)
            begin, end = np.maximum(windows.begin, held.begin), np.minimum(windows.end, held.end)
            empty = begin >= end
            windows = Windows(np.where(empty, held.begin, begin), np.where(empty, held.end, end))
        return windows, sigma

    def table(self, prior: Floats) -> Any:
        """CSR, since a group's window is short."""
        own = self if prior is self.prior else replace(self, prior=prior)
        return own._rows(np.arange(len(self.released)))

    def _rows(self, rows: Ints) -> Any:
        from scipy.sparse import csr_array

        windows, sigma = self._windows
        part = windows.part(rows)
        row, level = part.row, part.level
        weights = self.prior[level]
        if sigma is not None:
            unit = (self._places[level] - self.released.places[rows][row]) ** 2 / np.maximum(
                2 * sigma[rows][row] ** 2, np.finfo(np.float64).tiny
            )
            weights = weights * sum(share * w * np.exp(-unit * w**2) for w, share in self._widths)
        if self.in_order:
            weights = weights * self._meeting(rows[row], level)
        found = members(
            self._places,
            np.asarray(weights),
            self.released.sizes[rows],
            self.released.sums[rows],
            part,
            steps=self.steps,
            step=self._step,
        )
        bounds = np.concatenate([[0], np.cumsum(part.end - part.begin)])
        return csr_array((found, level, bounds), shape=(len(rows), self.shape[1]))

    def _meeting(self, rows: Ints, level: Ints) -> Floats:
        """How likely a level is on the group's side of both points where it meets its neighbours.

        With F the prior's distribution function, two groups with means y < z and sizes g, h meet where the first has
        g/(g + h) of F(z) − F(y); an error of SOFT · (F(z) − F(y)) / min(g, h) is allowed for.
        """
        from scipy.special import expit

        released = self.released
        up = np.argsort(released.places, kind="stable")
        share = np.cumsum(self.prior) - self.prior / 2
        at = np.interp(released.places[up], self._places, share)
        size = released.sizes[up].astype(np.float64)
        apart = np.diff(at)
        meet = at[:-1] + apart * size[:-1] / (size[:-1] + size[1:])
        soft = np.maximum(SOFT * apart / np.minimum(size[:-1], size[1:]), LEAST)
        ends = np.empty((4, len(released)))
        ends[:, up] = [
            np.append(-np.inf, meet),
            np.append(meet, np.inf),
            np.append(1.0, soft),
            np.append(soft, 1.0),
        ]
        low, high, below, above = ends[:, rows]
        return np.asarray(expit((share[level] - low) / below) * expit((high - share[level]) / above))

    def mix(self, weights: Any) -> Any:
        if self._windows[0].pairs <= MOST_STORED:
            return super().mix(weights)
        from scipy.sparse import csr_array

        link = csr_array(weights)
        mixed = np.zeros((link.shape[0], self.shape[1]))
        by_symbol = link.tocsc()
        used = np.flatnonzero(np.diff(by_symbol.indptr))
        for rows in self._parts(used):
            mixed += (by_symbol[:, rows] @ self._rows(rows)).toarray()
        return mixed

    def entries(self, link: Any) -> int:
        if self._windows[0].pairs <= MOST_STORED:
            return super().entries(link)
        return int(link.shape[0]) * self.shape[1]

    def _parts(self, used: Ints) -> Iterator[Ints]:
        step = max(1, AT_A_TIME // self.shape[1])
        for begin in range(0, len(used), step):
            yield used[begin : begin + step]


def widths(released: GroupMeans, distances: Floats, prior: Floats, *, columns: int) -> Floats:
    """σ of each pair of size and sum, in the unit of ``released.places``.

    The prior need not be the file's own distribution, so Var − Var(means) may come out too small, even negative. G
    groups in d columns divide each column into some G^(1/d) parts, so Var(means) · G^(−2/d) is the least.
    """
    places = np.asarray(released.levels.places, dtype=np.float64)
    records = (released.sizes * released.groups).astype(np.float64)
    everybody = records.sum()
    belief = prior / prior.sum()
    centre = float(belief @ places)
    whole = float(belief @ (places - centre) ** 2)
    shown = float(records @ (released.places - records @ released.places / everybody) ** 2 / everybody)
    within = max(whole - shown, shown * float(released.groups.sum()) ** (-2.0 / columns))
    spread = distances * (released.sizes - 1) / released.sizes
    scale = within / max(float(records @ spread / everybody), 1e-300)
    return np.asarray(np.sqrt(np.maximum(scale * distances, 1e-300)))


def group_distances(columns: list[GroupMeans], groups: int) -> Floats:
    """D of each group: the root mean square distance to its nearest other groups, every column scaled to variance 1."""
    from scipy.spatial import KDTree

    points = np.column_stack([each.places[each.kind] for each in columns]).astype(np.float64)
    deviation = points.std(axis=0)
    points = points / np.where(deviation > 0, deviation, 1.0)
    if groups == 1:
        return np.ones(1)
    apart, _ = KDTree(points).query(points, k=min(NEIGHBOURS + 1, groups))
    distance = np.sqrt((apart[:, 1:] ** 2).mean(axis=1))
    return np.asarray(np.maximum(distance, LEAST_DISTANCE * distance.mean() + 1e-9))


def of_kinds(released: GroupMeans, distances: Floats) -> Floats:
    """Of each pair of size and sum, the mean D of its groups."""
    return np.asarray(np.bincount(released.kind, distances) / released.groups)


# Which channel an averaged column has: exact where sums can be counted, else on grids of bounded size.


def among_sums(released: GroupMeans, *, patient: bool) -> Computed:
    """Someone who knows the sums of groups; ``patient``: this intruder was asked for, so she may take longer."""
    grid, prior = released.levels.grid, _uniform(released)
    if grid is not None and can_count_sums(grid, released.sizes, patient=patient):
        return GroupSums(grid, released.sizes, released.steps, prior=prior)
    return SumsNearMeans(released, prior=prior)


def in_order(released: GroupMeans) -> Computed:
    """Someone who also knows that no groups overlap."""
    grid, prior = released.levels.grid, _uniform(released)
    if grid is not None and in_reach(grid, released.sizes, released.steps, released.groups):
        return GroupsInOrder(grid, released.sizes, released.steps, released.groups, prior=prior)
    near = NearGroupsInOrder(released, prior=prior)
    if near.steps:
        return near
    return SumsNearMeans(released, in_order=True, prior=prior)


def near_means(released: GroupMeans, distances: Floats, columns: int) -> Computed:
    """Someone who also knows how far members lie from their group's mean on average.

    ``distances``: of each group, D (`group_distances`).
    """
    return SumsNearMeans(released, of_kinds(released, distances), columns, prior=_uniform(released))


def rounding(channel: Channel | None, name: str) -> str | None:
    """How a channel counts the sums of the column ``name``, in a sentence; None if exactly."""
    if isinstance(channel, (NearGroupsInOrder, SumsNearMeans)) and channel.rounds:
        return (
            f"The values of {name} lie on no even grid, or on one of too many steps, to count the sums of groups "
            f"exactly: where a group may lie, they are moved to the nearest of {channel.steps:,} steps. Someone who "
            "knew every value that occurs to its last digit, and tried all combinations, could learn somewhat more."
        )
    return None


def _uniform(released: GroupMeans) -> Floats:
    values = len(released.levels.values)
    return np.full(values, 1.0 / values)
