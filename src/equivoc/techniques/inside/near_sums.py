"""P(a member's value | its group's sum), each group on a short grid of its own, by the fast Fourier transform.

Where the values of a column lie on no even grid, or on one of too many steps, sums cannot be counted exactly. A group's
members then lie in a window, which is divided into at most so many steps; each value counts as the nearest one. The sum
of the errors of g values has about the variance g/12 steps²: sums are compared with that tolerance, so that the true
values always stay possible. In a window of no more steps of the real grid, nothing is rounded.

Before sums are formed, each row is tilted, ``ρ(v)·e^(θv)``, such that its mean is the group's. A tilt
changes nothing in the result, but moves the sum into the middle of its distribution, where a Fourier transform is
accurate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.intruder.posteriors import ranges
from equivoc.systems.grids import EvenGrid, even_grid

# Sizes, sums and means of the groups of one averaged column: what its release tells.

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Levels:
    """The values of a column, ascending, and the even grid that they lie on, if there is one."""

    values: Floats = field(repr=False)
    grid: EvenGrid | None

    @classmethod
    def of(cls, values: Floats) -> Levels:
        try:
            return cls(values, even_grid(values))
        except InputError:  # any finite numbers have means; only sums in whole steps need a grid
            return cls(values, None)

    @property
    def places(self) -> NDArray[np.float64] | Ints:
        """Where the values lie: in steps of the grid, or without one the values themselves."""
        return self.values if self.grid is None else self.grid.positions


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """The distinct pairs of a group's size and sum; groups with equal pairs cannot be told apart."""

    levels: Levels
    sizes: Ints = field(repr=False)
    sums: Floats = field(repr=False)
    """In steps of the grid above the least value; without a grid, of the values themselves."""
    groups: Ints = field(repr=False)
    """How many groups have each pair."""
    kind: Ints = field(repr=False)
    """Of each group, which pair it has."""

    @classmethod
    def of(cls, levels: Levels, codes: NDArray[np.integer[Any]], group: Ints) -> GroupMeans:
        """The groups of records with these values' numbers."""
        ascending = np.argsort(codes, kind="stable")  # equal members are added in the same order
        total = np.bincount(group[ascending], levels.places[codes[ascending]])
        kinds, kind, groups = np.unique(
            np.column_stack([total, np.bincount(group)]), axis=0, return_inverse=True, return_counts=True
        )
        sums, sizes = kinds.T
        return cls(levels, sizes.astype(np.int64), sums, groups, kind.reshape(-1))  # NumPy 2.0.0: a column

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def steps(self) -> Ints:
        """The sums in whole steps of the grid."""
        return self.sums.astype(np.int64)

    @property
    def means(self) -> Floats:
        """The published means."""
        grid = self.levels.grid
        mean = self.sums / self.sizes
        return np.asarray(mean if grid is None else grid.origin + grid.step * mean)

    @property
    def places(self) -> Floats:
        """The means where the values' `places` are: in steps of the grid, or as they are."""
        return np.asarray(self.sums / self.sizes)


FEWEST_STEPS, MOST_STEPS = 64, 4096
WORK = 1e7
"""Records × steps: a second or two."""
AT_A_TIME = 2**21
"""Numbers in one table of a part of the rows."""
SMALLEST = 1e-14
"""Relative to the likeliest sum: smaller probabilities are the rounding errors of the transform."""
TILTS = 30
MOST_TILT = 20.0
ENOUGH = 0.1
"""The mean of a tilted row is this close to the group's, in standard deviations of a member."""
REACH = 4.0
"""Standard deviations of the rounding errors of a sum that are allowed for."""


@dataclass(frozen=True, eq=False)
class Windows:
    """For each row the levels from ``begin`` to before ``end``: where members of the group may lie."""

    begin: Ints = field(repr=False)
    end: Ints = field(repr=False)

    def part(self, rows: Ints) -> Windows:
        return Windows(self.begin[rows], self.end[rows])

    @cached_property
    def row(self) -> Ints:
        """Of each pair of a row and a level in its window, the row."""
        return np.repeat(np.arange(len(self.begin)), self.end - self.begin)

    @cached_property
    def level(self) -> Ints:
        return ranges(self.begin, self.end)

    @property
    def pairs(self) -> int:
        return int((self.end - self.begin).sum())


def steps_for(records: int) -> int:
    """How many steps a window is divided into, in a file of so many records."""
    return int(min(max(WORK / max(records, 1), FEWEST_STEPS), MOST_STEPS))


def feasible(places: Floats, sizes: Ints, sums: Floats, low: Floats, high: Floats) -> Windows:
    """The levels from ``low`` to ``high`` of each group that other members in there can complete to its sum."""
    least, most = np.maximum(low, sums - (sizes - 1) * high), np.minimum(high, sums - (sizes - 1) * low)
    spare = 1e-9 * (high - low) + 1e-12 * np.maximum(np.abs(least), np.abs(most))
    begin = np.searchsorted(places, least - spare, side="left")
    end = np.searchsorted(places, most + spare, side="right")
    nearest = _nearest(places, sums / sizes)
    empty = begin >= end
    return Windows(np.where(empty, nearest, begin), np.where(empty, nearest + 1, end))


def members(
    places: Floats, weights: Floats, sizes: Ints, sums: Floats, windows: Windows, *, steps: int, step: float
) -> Floats:
    """P(a member has the level) for each pair of a row and a level of its window, in the order of ``windows.row``.

    ``weights`` are of the same pairs: how likely a member has the level before the sum is known, up to a factor per
    row. ``step`` is the even grid's (0: there is none), in the unit of ``places``.
    """
    found = np.empty(windows.pairs)
    bounds = np.concatenate([[0], np.cumsum(windows.end - windows.begin)])
    for size in np.unique(sizes):
        of_size = np.flatnonzero(sizes == size)
        for rows in _parts(of_size, int(size) * steps):
            part = windows.part(rows)
            pairs = ranges(bounds[rows], bounds[rows + 1])
            found[pairs] = _of_size(
                places, weights[pairs], int(size), sums[rows], part, steps=steps, step=step
            )
    return found


def _parts(rows: Ints, width: int) -> Iterator[Ints]:
    at_once = max(1, AT_A_TIME // max(width, 1))
    for begin in range(0, len(rows), at_once):
        yield rows[begin : begin + at_once]


def _of_size(
    places: Floats, weights: Floats, size: int, sums: Floats, windows: Windows, *, steps: int, step: float
) -> Floats:
    from scipy.fft import irfft, next_fast_len, rfft

    count, row = len(sums), windows.row
    low = places[windows.begin]
    exact, width = _cells(places, windows, steps, step)
    cell = np.rint((places[windows.level] - low[row]) / width[row]).astype(np.int64)
    aim = (sums - size * low) / width
    starts = _starts(windows)
    weights = weights / np.maximum(np.maximum.reduceat(weights, starts), 1e-300)[row]
    flat = np.bincount(row * (steps + 1) + cell, weights, minlength=count * (steps + 1))
    table: Floats = flat.astype(np.float64).reshape(count, steps + 1)
    tilt = _tilted(table, aim / size)
    table = table * tilt
    table /= np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
    long = size * steps + 1
    fast = next_fast_len(long, real=True)
    rest = irfft(rfft(table, fast, axis=1) ** (size - 1), fast, axis=1)[:, :long]
    rest[rest < SMALLEST * rest.max(axis=1, keepdims=True)] = 0.0
    near = np.rint(aim).astype(np.int64)
    chance = tilt * _of_rest(rest, near, aim - near, np.where(exact, 0.0, np.sqrt(size / 12.0)), steps)
    found = weights * chance[row, cell]
    total = np.add.reduceat(found, starts)
    for instead in (weights, np.ones(len(weights))):  # no members with this sum: the window alone
        lost = total <= 0
        if lost.any():
            found = np.where(lost[row], instead, found)
            total = np.add.reduceat(found, starts)
    return np.asarray(found / total[row])


def _cells(places: Floats, windows: Windows, steps: int, step: float) -> tuple[NDArray[np.bool_], Floats]:
    """Of each row, whether its window has no more than so many steps of the real grid, and the width of a step."""
    span = places[windows.end - 1] - places[windows.begin]
    exact = span <= step * steps * (1 + 1e-9)
    unit = step if step > 0 else 1.0
    # A step below the smallest normal number is so inexact that values would lie past the window's end.
    return exact, np.where(exact, unit, np.maximum(span / steps, np.finfo(np.float64).tiny))


def rounded(places: Floats, windows: Windows, *, steps: int, step: float) -> bool:
    """True if `members` moves values to the nearest of ``steps`` steps in some row."""
    return not _cells(places, windows, steps, step)[0].all()


def _of_rest(rest: Floats, near: Ints, off: Floats, spread: Floats, steps: int) -> Floats:
    """Rows × cells: how likely the others have what a member of the cell leaves of the sum ``near + off``."""
    reach = int(np.ceil(REACH * spread.max(initial=0.0))) + (1 if spread.any() else 0)
    cells = np.arange(steps + 1)
    chance = np.zeros((len(rest), steps + 1))
    for more in range(-reach, reach + 1):
        apart = np.where(spread > 0, (more - off) / np.where(spread > 0, spread, 1.0), 0.0)
        kernel = np.where(spread > 0, np.exp(-0.5 * apart**2), float(more == 0))
        at = near[:, None] + more - cells
        inside = (at >= 0) & (at < rest.shape[1])
        found = np.take_along_axis(rest, np.where(inside, at, 0), axis=1)
        chance += np.where(inside, found, 0.0) * kernel[:, None]
    return chance


def _tilted(table: Floats, mean: Floats) -> Floats:
    """Rows × cells: e^(θ·cell), with θ such that the row's mean cell is ``mean``, up to a factor per row."""
    cells = np.arange(table.shape[1], dtype=np.float64)
    low, high = np.full(len(table), -MOST_TILT), np.full(len(table), MOST_TILT)
    theta, tilt = np.zeros(len(table)), np.ones_like(table)
    for _ in range(TILTS):
        weighted = table * tilt
        total = np.maximum(weighted.sum(axis=1), 1e-300)
        first = weighted @ cells / total
        second = weighted @ cells**2 / total - first**2
        low, high = np.where(first < mean, theta, low), np.where(first >= mean, theta, high)
        if (np.abs(first - mean) < ENOUGH * np.sqrt(np.maximum(second, 1e-12))).all():
            break
        newton = theta + (mean - first) / np.maximum(second, 1e-12)
        theta = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        logs = theta[:, None] * cells
        logs -= np.where(table > 0, logs, -np.inf).max(axis=1, keepdims=True, initial=-1e300)
        tilt = np.exp(np.minimum(logs, 0.0))
    return np.asarray(tilt)


def _starts(windows: Windows) -> Ints:
    lengths = windows.end - windows.begin
    return np.asarray(np.cumsum(lengths) - lengths)


def _nearest(places: Floats, at: Floats) -> Ints:
    above = np.minimum(np.searchsorted(places, at), len(places) - 1)
    below = np.maximum(above - 1, 0)
    return np.asarray(np.where(at - places[below] <= places[above] - at, below, above), dtype=np.int64)
