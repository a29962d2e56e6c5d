"""Rounding of a table's cells to multiples of a base: conventional, random, or controlled (margins add up)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.numbers import multiples, round_half_up, whole_steps
from equivoc.checks import check_choice, checked_number
from equivoc.errors import InputError
from equivoc.measure.curve import curve
from equivoc.systems.grids import decimal_places
from equivoc.tables.attacker import cell_intervals, cell_name, equations, has_negatives
from equivoc.tables.cell_posteriors import EVEN_POINTS, Figures, figures_between, figures_on_steps
from equivoc.tables.cell_table import CellTable
from equivoc.tables.contributions import summed_up
from equivoc.tables.controlled_rounding import ControlledRounding, controlled_rounding
from equivoc.tables.release import TableRelease
from equivoc.techniques.technique import Randomness, generator
from equivoc.text import exact, percent

# The values that a rounded cell can have: the interval that its multiple and the margins allow, and their
# chances.

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_ENUMERATED = 200_000
"""Tables that are tried one by one: up to so many, posteriors are exact."""
_CLOSE_ENOUGH = 1e-6


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
        first = np.ceil(low - _CLOSE_ENOUGH) if nearest else np.floor(low + _CLOSE_ENOUGH) + 1
        return first * unit, (np.ceil(high - _CLOSE_ENOUGH) - 1) * unit

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
        if np.abs(multiple - np.rint(multiple)).max(initial=0.0) < _CLOSE_ENOUGH:
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
    return np.ceil(found.low - _CLOSE_ENOUGH) * unit, np.floor(found.high + _CLOSE_ENOUGH) * unit


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


METHODS = ("conventional", "random", "controlled")
# A number this close to a multiple, in bases, counts as that multiple.
_CLOSE = 1e-9
# An interval of more values than this is measured on an even grid.
_MOST_VALUES = 1 << 16


@dataclass(frozen=True)
class CellRounding:
    """Release each cell as a multiple of ``base``.

    - "conventional": the nearest multiple, a half up. Every cell, margin or not, is rounded on its own, so margins need
      not add up, and a reader can use that to narrow cells down.
    - "random": of the multiples m ≤ v < m + base, the upper one with probability (v − m)/base: unbiased (Fellegi,
      1975). Every cell on its own; a multiple stays. Margins need not add up.
    - "controlled": m or m + base, so that margins add up and the total distance to the true cells is the least; a
      multiple stays. In a table of three or more keys there may be no such rounding: then cells may go one base
      further, and the release's notes say so.

    >>> from equivoc.tables.cell_table import Dimension
    >>> values = np.array([9.0, 2.0, 7.0])
    >>> table = CellTable((Dimension.flat("sex", ["F", "M"]),), None, values, values.astype(np.int64), np.ones((3, 1)),
    ...     values, np.zeros(3, dtype=bool))
    >>> [CellRounding(5, method).release(table).values.tolist() for method in ("conventional", "controlled")]
    [[10.0, 0.0, 5.0], [10.0, 5.0, 5.0]]
    """

    base: float = 5
    """Above 0, in the attribute's unit. Larger is safer."""
    method: str = "conventional"
    time_limit: float = 25
    """Seconds for controlled rounding; a rounding that adds up is returned in any case."""

    def __post_init__(self) -> None:
        checked_number("cell rounding: base", self.base, "a finite number above 0", lambda b: 0 < b < np.inf)
        check_choice("cell rounding: method", self.method, METHODS)
        checked_number(
            "cell rounding: time_limit", self.time_limit, "a number of seconds above 0", lambda t: t > 0
        )

    def release(self, table: CellTable, rng: Randomness = None) -> RoundedTable:
        """Round the table. Only "random" uses ``rng``: None draws from the operating system, for publication; a seed or
        a Generator can be repeated, and who knows it can undo some of the rounding.
        """
        _check_values(table)
        random = None if rng is None else generator(rng)
        notes: tuple[str, ...] = ()
        found = None
        nearest = round_half_up(table.values, self.base)  # rejects a base that is too small for the values
        if self.method == "controlled":
            equations(table, np.zeros(len(table), dtype=bool))  # names a margin that does not add up
            found = controlled_rounding(table, table.values / self.base, time_limit=float(self.time_limit))
            values = multiples(found.steps.astype(np.float64), self.base)
            notes = _controlled_notes(found, self.base)
        else:
            values = nearest if self.method == "conventional" else self._at_random(table.values, random)
            apart = table.relations @ np.rint(values / self.base)
            if np.any(apart != 0):
                notes = (
                    f"{np.count_nonzero(apart):,} of {len(apart):,} sums of parts differ from their rounded total: "
                    "every cell was rounded on its own.",
                )
        wider = 0 if found is None else found.wider
        return RoundedTable(
            table,
            values,
            Rounded(float(self.base), self.method, wider),
            found,
            notes=notes,
            mechanism=self._mechanism(),
        )

    def _at_random(self, values: Floats, random: np.random.Generator | None) -> Floats:
        steps = whole_steps(values, self.base)
        share = values / self.base - steps
        share = np.where(share < _CLOSE, 0.0, share)
        uniform = _system_uniform(len(values)) if random is None else random.random(len(values))
        return multiples(steps + (uniform < share), self.base)

    def _mechanism(self) -> str:
        how = {
            "conventional": "the nearest multiple, a half up, every cell on its own",
            "random": "the multiple below or above, at random and unbiased, every cell on its own",
            "controlled": "the multiple below or above, so that margins add up",
        }[self.method]
        return (
            f"She knows that cells were rounded to multiples of {exact(self.base)}: {how}. She does not use that "
            "controlled rounding is the nearest one."
            if self.method == "controlled"
            else f"She knows that cells were rounded to multiples of {exact(self.base)}: {how}."
        )


@dataclass(frozen=True, eq=False)
class RoundedTable(TableRelease):
    """A rounded table. The intruder knows base and method, the unit of the values, and that true cells add up."""

    rounded: Rounded
    controlled: ControlledRounding | None = field(default=None, repr=False)
    """How near the controlled rounding is to the best one; None for other methods."""

    @cached_property
    def unit(self) -> float | None:
        """What every true value is a multiple of; None: not known, even steps stand for the values of an interval."""
        return unit_of(self.cells)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest true value of each cell, from its multiple, the others and the sums."""
        return possible_range(self.cells, self.values, self.rounded, self.unit)

    @cached_property
    def _enumerated(self) -> Enumerated | None:
        return enumerated(self.cells, self.values, self.rounded, self.unit, *self.bounds)

    @property
    def exact(self) -> bool:
        """True if posteriors come from all possible tables; otherwise each cell's from its own interval."""
        return self._enumerated is not None

    def posterior(self, cell: int) -> tuple[Floats, Floats]:
        """The possible true values of a cell and their probabilities.

        In small tables from all tables that agree with the release, weighted by the chance to be rounded to it. In
        larger ones from the cell's interval: uniform or, for random rounding, by the cell's own chance to be rounded to
        what was released.
        """
        if self._enumerated is not None:
            return self._enumerated.posterior(cell)
        low, high = float(self.bounds[0][cell]), float(self.bounds[1][cell])
        if self.unit is None or (high - low) / self.unit >= _MOST_VALUES:
            values: Floats = np.unique(np.linspace(low, high, EVEN_POINTS)).astype(np.float64)
        else:
            values = self.unit * np.arange(
                round(low / self.unit), round(high / self.unit) + 1, dtype=np.float64
            )
        weights = self.rounded.chance(self.values[cell : cell + 1], values)
        if weights.sum() <= 0:  # only the ends of an interval without a unit
            weights = np.ones(len(values))
        return values[weights > 0], weights[weights > 0] / weights.sum()

    @cached_property
    def expected(self) -> Floats:
        """The mean of each cell's posterior."""
        if not self.exact and self.rounded.method != "random":
            low, high = self.bounds
            return (low + high) / 2
        return np.array([float(np.dot(*self.posterior(cell))) for cell in range(len(self.cells))])

    def figures(self, *, eps: float = 0.0) -> Figures:
        """The measure of every cell's posterior; ``hit`` for windows of length ``eps``, in the attribute's unit."""
        low, high = self.bounds
        if self.exact or self.rounded.method == "random":
            return self._figures_one_by_one(eps)
        width = high - low
        if self.unit is None or bool((width / self.unit >= _MOST_VALUES).any()):
            return figures_between(low, high, eps=eps)
        return figures_on_steps(
            np.rint(width / self.unit).astype(np.int64) + 1, np.full(len(low), self.unit), eps=eps
        )

    def _figures_one_by_one(self, eps: float) -> Figures:
        """Cells whose posteriors have the same shape are measured once."""
        known: dict[tuple[float, ...], tuple[float, float, float, float]] = {}
        found = np.empty((len(self.cells), 4))
        for cell in range(len(self.cells)):
            values, probabilities = self.posterior(cell)
            ends = values[[0, -1]] - self.values[cell]
            # Without all tables the posterior follows from its ends, seen from the released value.
            key = (*values - values[0], *probabilities) if self.exact else (*ends,)
            if key not in known:
                one = curve(values, probabilities, tolerance=0.0 if len(values) <= EVEN_POINTS else 1e-2)
                known[key] = one.h0, one.area, one.eps_max, one.hit(eps)
            found[cell] = known[key]
        return Figures(*found.T)


def _check_values(table: CellTable) -> None:
    if not isinstance(table, CellTable):
        raise InputError(f"table is a {type(table).__name__}; make one with eq.tabulate(people, by=[…]).")
    missing = np.flatnonzero(~np.isfinite(table.values))
    if len(missing):
        raise InputError(
            f"the cell {cell_name(table, int(missing[0]))} has no value, so the table cannot be rounded; "
            "give all values."
        )


def _controlled_notes(found: ControlledRounding, base: float) -> tuple[str, ...]:
    notes = []
    if found.wider:
        notes.append(
            f"No rounding of each cell to a neighbouring multiple adds up, so cells may have gone "
            f"{found.wider} × {exact(base)} further and multiples may have changed."
        )
    if found.wider is None:
        notes.append(
            "No controlled rounding was found: inner cells are rounded to the nearest multiple and margins are their "
            "sums, which may be far from the true margins. Give a higher time_limit."
        )
    if found.gap > 0:
        # Without the distance itself: it would be one more equation for an intruder.
        notes.append(f"The total distance to the true cells is at most {percent(found.gap)} above the least.")
    if found.timed_out:
        notes.append("The time limit ended the search.")
    return tuple(notes)


def _system_uniform(count: int) -> Floats:
    """Numbers from 0 to 1 (excluded) from the operating system's random source."""
    bits = np.frombuffer(os.urandom(8 * count), dtype=np.uint64) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53
