"""Cell suppression: withhold unsafe cells, and as few others as it takes that they cannot be computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_number
from equivoc.errors import InputError
from equivoc.tables.attacker import cell_name
from equivoc.tables.cell_table import CellTable
from equivoc.tables.release import TableRelease
from equivoc.tables.rules import as_rules, protection_from_largest, protection_levels, unsafe_cells
from equivoc.tables.suppression.exposure import Exposure, exposure
from equivoc.tables.suppression.suppress import Suppressed, suppress
from equivoc.text import exact, percent

# Cells and costs as the caller names them: labels, True and False, words, numbers.


def marked_cells(table: CellTable, given: Any, *, name: str) -> NDArray[np.bool_]:
    """True for the named cells: tuples of labels in the order of the keys, None for a margin; or one Boolean a cell."""
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        if given.shape != (len(table),):
            raise InputError(f"{name} needs True or False for each of the {len(table)} cells of the table.")
        return given.copy()
    marked = np.zeros(len(table), dtype=bool)
    if isinstance(given, str):
        raise InputError(f"{name} is {given!r}; give a list of cells, each a tuple of labels.")
    for one in given:
        labels = one if isinstance(one, tuple) else (one,)
        if len(labels) != len(table.dimensions):
            raise InputError(
                f"{name}: {one!r} names no cell; give {len(table.dimensions)} labels ({', '.join(table.by)}), "
                "None for a margin."
            )
        nodes = []
        for dimension, label in zip(table.dimensions, labels, strict=True):
            if label not in dimension.labels:
                raise InputError(f"{name}: {dimension.name} has no category {label!r}.")
            nodes.append(dimension.labels.index(label))
        marked[np.ravel_multi_index(nodes, table.shape)] = True
    return marked


def costs(table: CellTable, given: Any) -> NDArray[np.float64]:
    """What suppressing each cell costs."""
    if isinstance(given, str):
        words = {"value": np.abs(table.values), "count": table.people, "equal": np.ones(len(table))}
        return np.asarray(words[given], dtype=np.float64).copy()
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("cost must be value, count, equal, or a number for each cell.") from None
    if numbers.shape != (len(table),):
        raise InputError(
            f"cost has shape {numbers.shape}; it needs one number for each of {len(table)} cells."
        )
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        cell = int(wrong[0])
        raise InputError(
            f"the cost of the cell {cell_name(table, cell)} is {numbers[cell]}; it must be 0 or more."
        )
    return numbers


Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Of the time limit, in addition to it: what contributors are checked for after the search.
_TIME_TO_CHECK, _LEAST_SECONDS_TO_CHECK = 0.25, 1.0


@dataclass(frozen=True, eq=False)
class CellSuppression:
    """Suppress the cells that are unsafe by ``rule``, and more of the least cost, so that none follows from the rest.

    For all that the attacker can compute, each unsafe cell with protection U could be ``value + U`` or more, and
    ``value − U`` or less (0, if U exceeds the value and no contribution is negative): its interval is at least U
    wide. The attacker knows the published table and that contributions are not negative. It holds also for a single
    contributor of a cell, who knows that cell, if it adds up with the unsafe one.

    >>> import pandas as pd
    >>> import equivoc as eq
    >>> firms = pd.DataFrame({"region": list("nnnnsssseeee"), "branch": list("aabbaabbaabb"),
    ...     "sales": [50, 1, 20, 18, 16, 14, 22, 19, 30, 26, 24, 28]})
    >>> people = eq.Microdata(firms, confidential="sales", keys=["region", "branch"])
    >>> table = eq.tabulate(people, by=["region", "branch"], value="sales")
    >>> release = CellSuppression(rule=eq.Dominance(n=1, k=90)).release(table)
    >>> release.suppressed
      region branch  primary   low  high
    0      n      a     True  10.0  81.0
    1      n      b    False   8.0  79.0
    2      s      a    False   0.0  71.0
    3      s      b    False   0.0  71.0
    >>> release.proven, release.notes
    (True, ())
    """

    rule: Any
    """A rule (``eq.PPercent(10)``), its text (``"p:10"``), or several."""
    cost: Any = "value"
    """What suppressing a cell costs: its ``"value"``, the ``"count"`` of its contributors, ``"equal"``, or an array
    with a number for each cell."""
    must: Any = ()
    """Cells to suppress in any case: tuples of labels in the order of the keys, None for a margin; or True and False
    for each cell."""
    must_not: Any = ()
    """Cells to publish in any case."""
    time_limit: float = 60.0
    """Seconds, after which the best pattern so far is released. A first protected one is always finished."""
    singles: bool = True
    """Whether single contributors of a cell must not compute an unsafe cell either. False is less safe."""

    def __post_init__(self) -> None:
        as_rules(self.rule)
        if isinstance(self.cost, str) and self.cost not in ("value", "count", "equal"):
            raise InputError(
                f"cost is {self.cost!r}; give value, count, equal, or an array with a number for each cell."
            )
        checked_number("time_limit", self.time_limit, "a number of seconds above 0", lambda limit: limit > 0)

    def release(self, table: CellTable) -> SuppressedTable:
        """The table without unsafe cells and those that they follow from; InputError if one cannot be protected."""
        if not isinstance(table, CellTable):
            raise InputError("table must be a table of cells; make one with eq.tabulate.")
        _check_known(table)
        began = perf_counter()
        unsafe = unsafe_cells(table, self.rule)
        must = marked_cells(table, self.must, name="must")
        found = suppress(
            table,
            unsafe=unsafe,
            protection=protection_levels(table, self.rule),
            from_largest=protection_from_largest(table, self.rule),
            cost=costs(table, self.cost),
            must=must,
            must_not=marked_cells(table, self.must_not, name="must_not"),
            singles=self.singles,
            time_limit=float(self.time_limit),
        )
        exposed = exposure(
            table,
            found.pattern,
            unsafe | must,
            seconds=max(_LEAST_SECONDS_TO_CHECK, _TIME_TO_CHECK * float(self.time_limit)),
        )
        return SuppressedTable(
            table,
            np.where(found.pattern, np.nan, table.values),
            primary=unsafe,
            found=found,
            exposure=exposed,
            seconds=perf_counter() - began,
            notes=(*exposed.notes, *_notes(found, float(self.time_limit))),
            mechanism="She knows which cells are suppressed, that cells add up"
            + (" and that no contribution is negative." if found.from_zero else "."),
        )


def _check_known(table: CellTable) -> None:
    unknown = np.flatnonzero(np.isnan(table.values))
    if len(unknown):
        raise InputError(
            f"the cell {cell_name(table, int(unknown[0]))} has no value; suppression starts from a complete table."
        )
    if (table.people < 0).any():
        raise InputError("the table does not say how many contributors its cells have: add a column people.")


def _notes(found: Suppressed, limit: float) -> tuple[str, ...]:
    notes = []
    if not found.in_time:
        notes.append(
            f"The time limit of {exact(limit)} seconds was reached: this is the best protected pattern so far."
        )
    if not found.proven:
        # The cost itself would be one more equation for an attacker: it is the sum of suppressed values.
        above = f"at most {percent(found.added / found.bound - 1)} above" if found.bound > 0 else "above"
        notes.append(
            f"The cost of suppressed cells besides the unsafe ones is {above} a bound that no protected pattern can "
            "undercut; whether a cheaper pattern exists is not proven."
        )
    return tuple(notes)


@dataclass(frozen=True, eq=False)
class SuppressedTable(TableRelease):
    """A table with suppressed cells, what the attacker knows of them, and how near the pattern is to the cheapest."""

    primary: Booleans = field(repr=False)
    """True for cells that are unsafe by the rule."""
    found: Suppressed = field(repr=False)
    exposure: Exposure = field(repr=False)
    """The unsafe cells that somebody can compute exactly nevertheless, such as a contributor alone in several cells."""
    seconds: float = 0.0
    """How long the search and the check of contributors took."""

    @property
    def exposed(self) -> str:
        """Which unsafe cells somebody can compute exactly although they are withheld, in a sentence; "" if none."""
        return self.exposure.sentence

    @property
    def proven(self) -> bool:
        """Whether no protected pattern is cheaper, and nobody can compute an unsafe cell exactly, not even a
        contributor, who knows all her own contributions."""
        return self.found.proven and self.exposure.safe

    @property
    def added(self) -> float:
        """The cost of cells that are suppressed besides the unsafe ones and those in ``must``."""
        return self.found.added

    @property
    def bound(self) -> float:
        """No protected pattern has a smaller added cost."""
        return self.found.bound

    @property
    def gap(self) -> float:
        """(added − bound) / bound; 0 for the cheapest pattern, inf if the bound is 0."""
        if self.found.proven:
            return 0.0
        return (self.added - self.bound) / self.bound if self.bound > 0 else float("inf")

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of each cell that agree with what is published, in the attribute's unit."""
        low, high = self.values.copy(), self.values.copy()
        intervals = self.found.intervals
        low[intervals.cells], high[intervals.cells] = intervals.low, intervals.high
        return low, high

    @cached_property
    def insider_bounds(self) -> tuple[Floats, Floats]:
        """As ``bounds``, but the cells that a contributor can compute have one value."""
        low, high = (np.where(self.exposure.cells, self.cells.values, bound) for bound in self.bounds)
        return low, high

    @cached_property
    def suppressed(self) -> Any:
        """The suppressed cells: categories, primary (unsafe by the rule), low and high (the attacker's bounds)."""
        from equivoc.tables.release import cell_frame

        cells = self.found.intervals.cells
        return cell_frame(
            self.cells,
            cells,
            {
                "primary": self.primary[cells],
                "low": self.found.intervals.low,
                "high": self.found.intervals.high,
            },
        )
