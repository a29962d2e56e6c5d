"""The suppression problem on arrays: cells, how they add up, what each unsafe cell needs, what suppressing costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Goal:
    """One requirement: the attacker cannot exclude that ``cell`` is ``level`` more (or less) than it is."""

    cell: int
    sign: int
    """1: above the true value; −1: below it."""
    level: float
    """In the attribute's unit; above 0."""
    known: tuple[int, ...] = ()
    """Cells that this attacker knows: those whose only contributor she is."""


@dataclass(frozen=True, eq=False)
class SuppressionProblem:
    """Find the cheapest set of cells that contains the ``forced`` ones, no others than ``allowed`` ones, and meets all
    goals.

    A goal is met if there are deviations d with ``relations @ d = 0``, d = 0 for published and known cells,
    ``−room_below ≤ d ≤ room_above``, and ``sign · d[cell] ≥ level``: the true values plus d are a table that agrees
    with everything the attacker knows.
    """

    relations: Any = field(repr=False)
    """A scipy CSR array, relations × cells: −1 for a total, 1 for its parts."""
    room_below: Floats = field(repr=False)
    """How far each cell may lie below its true value, as far as the attacker knows; inf: no limit."""
    room_above: Floats = field(repr=False)
    cost: Floats = field(repr=False)
    """What suppressing each cell costs, 0 or more."""
    forced: Booleans = field(repr=False)
    """Unsafe cells, and those that must be suppressed."""
    allowed: Booleans = field(repr=False)
    """Cells that may be suppressed besides."""
    goals: tuple[Goal, ...] = field(repr=False)
    network: bool = False
    """Whether relations are those of a network (two keys, at most one of them with subtotals): then the best
    deviations are sums of cycles, each with entries of −1 and 1."""

    @cached_property
    def free(self) -> Integers:
        """The cells to decide on."""
        return np.flatnonzero(self.allowed & ~self.forced)

    @cached_property
    def usable(self) -> Booleans:
        """Cells that are or may be suppressed."""
        return self.forced | self.allowed

    def added(self, pattern: Booleans) -> float:
        """The cost of the suppressed cells that are not forced."""
        return float(self.cost[pattern & ~self.forced].sum())
