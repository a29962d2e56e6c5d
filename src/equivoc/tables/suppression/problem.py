"""The suppression problem on arrays: cells, how they add up, what each unsafe cell needs, what suppressing costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.grids import decimal_places
from equivoc.systems.programs import Program, Solver
from equivoc.tables.attacker import has_negatives
from equivoc.tables.cell_table import CellTable

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
    """What suppressing each cell costs, 0 or more, in units of ``unit``."""
    forced: Booleans = field(repr=False)
    """Unsafe cells, and those that must be suppressed."""
    allowed: Booleans = field(repr=False)
    """Cells that may be suppressed besides."""
    goals: tuple[Goal, ...] = field(repr=False)
    network: bool = False
    """Whether relations are those of a network (two keys, at most one of them with subtotals): then the best
    deviations are sums of cycles, each with entries of −1 and 1."""
    unit: float = 1.0
    """What one unit of ``cost`` is to the caller."""

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


# Single contributors as attackers: whoever is alone in a cell knows it, and may compute her neighbours'
# cells.


def known_to_singles(table: CellTable) -> list[tuple[int, ...]]:
    """Of each single contributor, the cells that she is alone in: an inner cell, and totals that hold nobody else."""
    found = []
    for cell in np.flatnonzero(table.inner & (table.people == 1)):
        nodes = np.unravel_index(cell, table.shape)
        paths = [d.path[int(node)] for d, node in zip(table.dimensions, nodes, strict=True)]
        grid = np.ix_(*[np.array(path) for path in paths])
        above = np.arange(len(table)).reshape(table.shape)[grid].ravel()
        found.append(tuple(int(one) for one in np.sort(above[table.people[above] == 1])))
    return found


def insider_goals(
    table: CellTable, goals: tuple[Goal, ...], from_largest: Floats, *, from_zero: bool
) -> tuple[Goal, ...]:
    """The goals, and again for every single contributor who is alone in a cell that adds up with the goal's cell.

    Two suppressed cells of one contributor each in one relation are the exact-disclosure problem: each of the two
    computes the other from the total. If she is herself the largest contributor of the goal's cell, the next largest
    must be protected from her: ``from_largest`` has the levels. She knows that the cell is no less than what she
    contributes, if no contribution is negative (``from_zero``), so it need not seem to be less.
    """
    touching = abs(table.relations).tocsc()
    by_relation = abs(table.relations)
    of_cell: dict[int, list[Goal]] = {}
    for goal in goals:
        of_cell.setdefault(goal.cell, []).append(goal)
    more = []
    for known in known_to_singles(table):
        hers = float(np.abs(table.top[known[-1], :1]).sum())
        rows = np.unique(touching[:, list(known)].indices)
        for cell in set(np.unique(by_relation[rows].indices).tolist()) - set(known):
            inside = _contains(table, cell, known[-1])
            for goal in of_cell.get(cell, ()):
                level = goal.level
                if inside and _is_largest(table, cell, hers):
                    level = min(level, float(from_largest[cell]))
                if inside and goal.sign < 0 and from_zero:
                    level = min(level, float(table.values[cell] - table.values[known[-1]]))
                if level > 0:
                    more.append(Goal(cell, goal.sign, level, known))
    return (*goals, *more)


def _contains(table: CellTable, cell: int, inner: int) -> bool:
    """Whether the inner cell is part of ``cell``."""
    nodes, below = np.unravel_index(cell, table.shape), np.unravel_index(inner, table.shape)
    return all(
        int(node) in dimension.path[int(leaf)]
        for dimension, node, leaf in zip(table.dimensions, nodes, below, strict=True)
    )


def _is_largest(table: CellTable, cell: int, hers: float) -> bool:
    """Whether nobody else in the cell contributes as much; False for counts, to which nobody contributes a value."""
    if table.value is None or table.top.shape[1] < 2:
        return False
    largest, second = np.abs(table.top[cell, :2])
    return bool(hers >= largest > second)


# From a table, its unsafe cells and their protection to the suppression problem.


def suppression_problem(
    table: CellTable,
    *,
    unsafe: Booleans,
    protection: Floats,
    cost: Floats,
    must: Booleans,
    must_not: Booleans,
    from_largest: Floats,
    singles: bool = True,
    tighter: float = 0.0,
) -> SuppressionProblem:
    """Which cells to suppress so that each unsafe cell may be its protection above and below its value.

    Below means down to 0 where a cell is smaller than its protection and there are no negative contributions. Cells
    that are empty or 0 are known and cannot help; the grand total is published unless it is unsafe or in ``must``.
    ``singles``: goals hold for single contributors too; ``from_largest`` is the protection from those who are the
    largest contributor themselves. ``tighter`` raises all levels by this share.
    """
    negative = has_negatives(table)
    network = is_network(table)
    room_below = np.full(len(table), np.inf) if negative else table.values.copy()
    levels = _levels(table, protection, whole=network) * (1 + tighter)
    below = levels if negative else np.minimum(levels, table.values)
    goals = tuple(
        Goal(int(cell), sign, float(level[cell]))
        for cell in np.flatnonzero(unsafe)
        for sign, level in ((1, levels), (-1, below))
        if level[cell] > 0
    )
    allowed = (table.people > 0) & (negative | (table.values != 0)) & ~must_not
    allowed[0] = False
    # The solver's tolerances are absolute, and it takes 1e20 for infinite: costs are passed in a unit of their own.
    unit = cost_unit(cost)
    return SuppressionProblem(
        table.relations,
        room_below,
        np.full(len(table), np.inf),
        cost / unit,
        forced=unsafe | must,
        allowed=allowed,
        goals=insider_goals(
            table, goals, _levels(table, from_largest, whole=network) * (1 + tighter), from_zero=not negative
        )
        if singles
        else goals,
        network=network,
        unit=unit,
    )


def cost_unit(cost: Floats) -> float:
    """The power of two near the mean of the costs above 0; 1 without any. Dividing by it rounds nothing."""
    positive = cost[cost > 0]
    if not len(positive):
        return 1.0
    largest = float(positive.max())
    return float(2.0 ** np.round(np.log2(largest) + np.log2(float((positive / largest).mean()))))


def is_network(table: CellTable) -> bool:
    """Whether the table has at most two keys, and at most one of them subtotals: then corners of the attacker's
    polytope are whole if the table is."""
    nested = [bool((dimension.parents > 0).any()) for dimension in table.dimensions]
    return len(nested) <= 2 and sum(nested) <= 1


def _levels(table: CellTable, protection: Floats, *, whole: bool) -> Floats:
    """In a network of whole units the greatest deviations are whole too, and so may be what is asked of them."""
    places = decimal_places(table.values) if whole else None
    if places is None:
        return protection
    factor = 10.0**places
    # A protection that is whole but for the rounding of its formula stays as it is.
    return np.asarray(np.ceil(np.round(protection * factor, 9)) / factor)


# Deviations that prove a goal: the cheapest ones over the cells that may be used.

_TOLERANCE = 1e-9
"""Of sums and costs in the programs, whose levels are scaled to 1."""


def solver_of(matrix: Any, *, sums: Floats, cost: Floats, low: Floats, high: Floats) -> Solver:
    """Of ``min cost · x`` with ``matrix @ x = sums`` and ``low ≤ x ≤ high``; no presolve."""
    return Solver(
        Program(matrix.tocsr(), sums, sums, cost, low, high),
        presolve="off",
        primal_feasibility_tolerance=_TOLERANCE,
        dual_feasibility_tolerance=_TOLERANCE,
    )


# Deviations of other cells, in levels of the goal. In a network 1 is always enough; elsewhere more is tried last.
_FIRST_CAP, _LAST_CAP = 8.0, 1e4
_ZERO = 1e-10


class Certificates:
    """Programs of one problem over some of its cells: deviations up and down are separate unknowns, and cost."""

    def __init__(self, problem: SuppressionProblem, cells: Integers) -> None:
        from scipy import sparse

        self.problem, self.cells = problem, cells
        self.column = np.full(problem.relations.shape[1], -1)
        self.column[cells] = np.arange(len(cells))
        part = problem.relations[:, cells]
        part = part[np.flatnonzero(np.diff(part.indptr) > 0)]
        matrix = sparse.hstack([part, -part], format="csr")
        zeros = np.zeros(2 * len(cells))
        self.room = np.concatenate([problem.room_above[cells], problem.room_below[cells]])
        self.solver = solver_of(matrix, sums=np.zeros(part.shape[0]), cost=zeros, low=zeros, high=zeros)

    def price(self, cost: Floats) -> None:
        """Set the cost of a deviation of one level of each cell of the table."""
        self.solver.set_costs(np.tile(cost[self.cells], 2))

    def cheapest(
        self, goal: Goal, usable: Booleans, *, deadline: float, floor: Sequence[int] = ()
    ) -> tuple[Integers, Floats] | None:
        """Cells and their deviations, in levels of the goal, or None if the usable cells cannot meet the goal; cells in
        ``floor`` cannot be less than they are."""
        caps = (1.0,) if self.problem.network else (_FIRST_CAP, _LAST_CAP)
        for cap in caps:
            high = np.minimum(self.room / goal.level, cap)
            high[~np.tile(usable[self.cells], 2)] = 0.0
            for cell in goal.known:
                high[self._columns(cell)] = 0.0
            for cell in floor:
                high[self._columns(cell)[1:]] = 0.0
            low = np.zeros(len(high))
            own, opposite = self._columns(goal.cell)[:: goal.sign]
            if high[own] < 1.0:
                return None
            low[own], high[opposite] = 1.0, 0.0
            high[own] = 1.0
            self.solver.set_bounds(low, high)
            if self.solver.solve(deadline):
                values = self.solver.x
                deviations = values[: len(self.cells)] - values[len(self.cells) :]
                used = np.flatnonzero(np.abs(deviations) > _ZERO)
                return self.cells[used], deviations[used]
        return None

    def _columns(self, cell: int) -> list[int]:
        at = int(self.column[cell])
        return [at, at + len(self.cells)] if at >= 0 else []
