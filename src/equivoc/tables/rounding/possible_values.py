"""The values that a rounded cell can have: the interval that its multiple and the margins allow, and their chances."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.decimals import decimal_places
from equivoc.tables.attacker.equations import has_negatives
from equivoc.tables.attacker.intervals import cell_intervals
from equivoc.tables.cell_table import CellTable
from equivoc.tables.contributions import summed_up

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_ENUMERATED = 200_000
"""Tables that are tried one by one: up to so many, posteriors are exact."""
_CLOSE = 1e-6


@dataclass(frozen=True)
class Rounded:
    """How cells were rounded, as the intruder knows it."""

    base: float
    method: str
    """"conventional", "random" or "controlled"."""
    wider: int | None = 0
    """Controlled rounding: how many bases further than its neighbours a cell may have gone; None: inner cells
    went to the nearest multiple, and margins are their sums."""

    def own_bounds(self, released: Floats, unit: float | None) -> tuple[Floats, Floats]:
        """The least and the greatest value that each released multiple allows, before margins are used.

        Conventional: base/2 below to base/2 above, the upper end excluded; otherwise less than a base away. With a
        ``unit``, values are its multiples and the ends are attained; without one, ends are included.

        >>> low, high = Rounded(5, "conventional").own_bounds(np.array([10.0]), 1)
        >>> low.tolist(), high.tolist()
        ([8.0], [12.0])
        >>> low, high = Rounded(5, "random").own_bounds(np.array([10.0]), 1)
        >>> low.tolist(), high.tolist()
        ([6.0], [14.0])
        """
        nearest = self.method == "conventional" or self.wider is None
        reach = self.base / 2 if nearest else self.base * (1 + (self.wider or 0))
        if unit is None:
            return released - reach, released + reach
        low, high = (released - reach) / unit, (released + reach) / unit
        first = np.ceil(low - _CLOSE) if nearest else np.floor(low + _CLOSE) + 1
        return first * unit, (np.ceil(high - _CLOSE) - 1) * unit

    def chance(self, released: Floats, values: Floats) -> Floats:
        """P(released | true value) up to a factor, for values within the bounds; 1 unless rounding is random."""
        if self.method != "random":
            return np.ones(np.broadcast_shapes(released.shape, values.shape))
        return np.maximum(1 - np.abs(values - released) / self.base, 0.0)


def unit_of(table: CellTable) -> float | None:
    """What all values of the table are multiples of, as the intruder knows it; None: nothing.

    1 for counts; the step that the attribute was rounded to; otherwise the last decimal place of the values.
    """
    attribute: Any = None
    if table.value is not None and table.source is not None:
        attribute = table.source.attributes.get(table.value)
    step = None if attribute is None else attribute.round_to
    if step is not None:
        multiple = table.values / step
        if np.abs(multiple - np.rint(multiple)).max(initial=0.0) < _CLOSE:
            return float(step)
    places = decimal_places(table.values, headroom=4.0)
    return None if places is None else 10.0**-places


def possible_range(
    table: CellTable, released: Floats, rounded: Rounded, unit: float | None
) -> tuple[Floats, Floats]:
    """The least and the greatest value of each cell that the released table allows: no value below 0 if the table has
    none, and true values add up, by linear programs.
    """
    low, high = rounded.own_bounds(released, unit)
    if not has_negatives(table):
        low = np.maximum(low, 0.0)
    if rounded.wider is None:  # margins say nothing that the inner cells do not
        inner = np.flatnonzero(table.inner)
        return summed_up(low[inner], inner, table.dimensions), summed_up(high[inner], inner, table.dimensions)
    scale = 1.0 if unit is None else unit
    unknown = replace(table, values=np.full(len(table), np.nan))
    found = cell_intervals(unknown, lower=low / scale, upper=high / scale)
    if unit is None:
        return found.low, found.high
    return np.ceil(found.low - _CLOSE) * unit, np.floor(found.high + _CLOSE) * unit


@dataclass(frozen=True, eq=False)
class Enumerated:
    """All tables that agree with the release, each with its probability (uniform a priori)."""

    values: Floats = field(repr=False)
    """Cells × tables."""
    probabilities: Floats = field(repr=False)

    def posterior(self, cell: int) -> tuple[Floats, Floats]:
        """The possible values of a cell, ascending, and their probabilities."""
        values, of = np.unique(self.values[cell], return_inverse=True)
        return values, np.bincount(of, self.probabilities).astype(np.float64)


def enumerated(
    table: CellTable, released: Floats, rounded: Rounded, unit: float | None, low: Floats, high: Floats
) -> Enumerated | None:
    """Every table within these bounds; None if there are too many to try."""
    inner = np.flatnonzero(table.inner)
    if unit is None or not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    first = np.rint(low / unit)
    count = (np.rint(high / unit) - first).astype(np.int64) + 1
    if prod(count[inner].tolist()) > MOST_ENUMERATED:
        return None
    # The sum of inner cells that makes each cell.
    parts = np.column_stack(
        [summed_up(np.ones(1), np.array([cell], dtype=np.int64), table.dimensions) for cell in inner]
    )
    tries = np.indices(count[inner].tolist()).reshape(len(inner), -1) + first[inner][:, np.newaxis]
    every = parts @ tries
    fits = ((every >= first[:, np.newaxis]) & (every < (first + count)[:, np.newaxis])).all(axis=0)
    values = every[:, fits] * unit
    weights = rounded.chance(released[:, np.newaxis], values).prod(axis=0)
    return Enumerated(values, weights / weights.sum())
