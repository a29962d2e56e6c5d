"""Inequalities that protected patterns satisfy, and the attacker's programs that find violated ones.

With y = 1 for a suppressed cell and any multipliers π of the relations, a goal that is met has
``Σ_i (r_i⁻ · above_i + r_i⁺ · below_i) · y_i ≥ level`` with ``r = e − Mᵀπ``: the dual bound of the attacker's program
(M. Fischetti and J. J. Salazar, Management Science 47, 2001). Forced cells have y = 1 and go to the right-hand side;
what is left may be clipped to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.suppression.problem import Goal, SuppressionProblem, solver_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# An inequality is violated, a goal met, but for this share of the level.
VIOLATED = 1e-6
_MET = 1e-7
_ZERO = 1e-9
# Deviations of other cells, in levels: 1 is enough in networks.
_CAP = 16.0
# Cells that are not suppressed count as if this share of them were, where multipliers are chosen: of those that prove
# the same violation, the ones that weigh fewest other cells make the strongest inequality.
_SHARE_OF_OTHERS = 0.01
# With more relations than this, the program over neighbouring ones is left out.
_MANY = 300


@dataclass(frozen=True, eq=False)
class Cut:
    """``Σ weights · y[cells] ≥ least`` for some cheapest pattern that meets the goals."""

    cells: Integers
    weights: Floats
    least: float = 1.0

    def violated(self, y: Floats) -> bool:
        """Whether y is on the wrong side."""
        return float(self.weights @ y[self.cells]) < self.least - VIOLATED


def goal_cut(problem: SuppressionProblem, cells: Integers, weights: Floats) -> Cut | None:
    """The inequality ``Σ weights · y ≥ 1`` with forced cells taken out, or None if they satisfy it."""
    forced = problem.forced[cells]
    rest = 1.0 - float(weights[forced].sum())
    if rest <= _ZERO:
        return None
    used = ~forced & (weights > _ZERO)
    return Cut(cells[used], np.minimum(weights[used] / rest, 1.0))


class Attack:
    """The attacker's programs under one y: how far can the cell of a goal deviate?

    Only cells with y > 0 are unknowns, which are few. The inequality is found in a second program, over the relations
    near those that proved the violation.
    """

    def __init__(self, problem: SuppressionProblem, y: Floats) -> None:
        self.problem, self.y = problem, y
        self.cells = np.flatnonzero(problem.usable & (y > 0))
        self.column = np.full(len(problem.cost), -1)
        self.column[self.cells] = np.arange(len(self.cells))
        part = problem.relations[:, self.cells]
        self.rows = np.flatnonzero(np.diff(part.indptr) > 0)
        self.matrix = part[self.rows]
        self.by_cell = self.matrix.T.tocsr()
        zeros, sums = np.zeros(len(self.cells)), np.zeros(len(self.rows))
        self.solver = solver_of(self.matrix, sums=sums, cost=zeros, low=zeros, high=zeros)
        self.solver.set(simplex_strategy=4)  # from goal to goal, mostly costs change

    def reaches(self, goal: Goal, *, deadline: float) -> bool:
        """Whether the goal is met; True is certain but for rounding."""
        cap = 1.0 if self.problem.network else _CAP
        return self._attack(goal, cap, deadline)[0] >= 1 - _MET

    def cut(self, goal: Goal, *, deadline: float) -> Cut | None:
        """A violated inequality, or None if there is none: then the goal is met."""
        for cap in (1.0,) if self.problem.network else (1.0, _CAP):
            reached, multipliers = self._attack(goal, cap, deadline)
            if reached >= 1 - _MET:
                return None
            used = np.flatnonzero(np.abs(multipliers) > _ZERO)
            plain = self._inequality(goal, self.rows[used], multipliers[used])
            if plain is None or not plain.violated(self.y):
                continue  # deviations beyond the cap matter
            rows = self._near(used)
            stronger = self._strongest(goal, rows if len(rows) <= _MANY else self.rows[used], cap, deadline)
            return stronger if stronger is not None and stronger.violated(self.y) else plain
        return None

    def _attack(self, goal: Goal, cap: float, deadline: float) -> tuple[float, Floats]:
        """The greatest deviation of the goal's cell, in levels, and the multipliers of the relations."""
        low, high = _room(self.problem, goal, self.cells, cap, self.y[self.cells])
        own = int(self.column[goal.cell])
        low[own], high[own] = max(low[own], -1.0), min(high[own], 1.0)  # one level is enough
        self.solver.set_bounds(low, high)
        self.solver.set_cost(own, -float(goal.sign))
        if not self.solver.solve(deadline):
            raise RuntimeError("no deviation at all is a solution, but HiGHS found none.")
        reached, multipliers = goal.sign * float(self.solver.x[own]), self.solver.multipliers
        self.solver.set_cost(own, 0.0)
        return reached, multipliers

    def _near(self, used: Integers) -> Integers:
        """The relations that have a cell with y > 0 in common with these."""
        cells = np.unique(self.matrix[used].indices)
        return np.asarray(self.rows[np.unique(self.by_cell[cells].indices)])

    def _strongest(self, goal: Goal, rows: Integers, cap: float, deadline: float) -> Cut | None:
        """The inequality whose multipliers are those of the program over these relations only."""
        part, cells = self._part(rows)
        low, high = _room(self.problem, goal, cells, cap, np.maximum(self.y[cells], _SHARE_OF_OTHERS))
        cost = np.where(cells == goal.cell, -float(goal.sign), 0.0)
        solver = solver_of(part, sums=np.zeros(len(rows)), cost=cost, low=low, high=high)
        if not solver.solve(deadline):
            raise RuntimeError("no deviation at all is a solution, but HiGHS found none.")
        return self._inequality(goal, rows, solver.multipliers)

    def _inequality(self, goal: Goal, rows: Integers, multipliers: Floats) -> Cut | None:
        """The inequality of these multipliers of these relations, and 0 for all others."""
        part, cells = self._part(rows)
        nearest = np.rint(multipliers)
        multipliers = np.where(np.abs(nearest - multipliers) < 1e-7, nearest, multipliers)
        reduced = np.where(cells == goal.cell, -float(goal.sign), 0.0) - part.T @ multipliers
        reduced[np.isin(cells, goal.known) | (np.abs(reduced) < _ZERO)] = 0.0
        with np.errstate(invalid="ignore"):  # 0 times no limit
            room = np.where(reduced > 0, self.problem.room_below[cells], self.problem.room_above[cells])
            weights = np.where(reduced == 0, 0.0, np.abs(reduced) * room / goal.level)
        return goal_cut(self.problem, cells, weights)

    def _part(self, rows: Integers) -> tuple[Any, Integers]:
        """These relations, and the cells in them that are or may be suppressed."""
        part = self.problem.relations[rows]
        cells = np.unique(part.indices).astype(np.int64)
        cells = cells[self.problem.usable[cells]]
        return part[:, cells], cells


def _room(
    problem: SuppressionProblem, goal: Goal, cells: Integers, cap: float, share: Floats
) -> tuple[Floats, Floats]:
    """How far each cell may deviate down and up, in levels: at most ``cap``, times y."""
    high = np.minimum(problem.room_above[cells] / goal.level, cap) * share
    low = -np.minimum(problem.room_below[cells] / goal.level, cap) * share
    if goal.known:
        known = np.isin(cells, goal.known)
        high[known] = low[known] = 0.0
    return low, high


# Inequalities from single relations, without a program: a suppressed cell needs others beside it.


def goal_relation_cuts(problem: SuppressionProblem) -> list[Cut]:
    """For each goal and each relation of its cell: the other cells of the relation must make up for its deviation."""
    rows, columns = problem.relations, problem.relations.tocsc()
    cuts = []
    for goal in problem.goals:
        for row in columns.indices[columns.indptr[goal.cell] : columns.indptr[goal.cell + 1]]:
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            cells, signs = rows.indices[part].astype(np.int64), rows.data[part]
            direction = -goal.sign * float(signs[cells == goal.cell][0]) * signs
            room = np.where(direction > 0, problem.room_above[cells], problem.room_below[cells])
            helps = problem.usable[cells] & (cells != goal.cell) & ~np.isin(cells, goal.known)
            cut = goal_cut(problem, cells, np.where(helps, room / goal.level, 0.0))
            if cut is not None:
                cuts.append(cut)
    return cuts


class LoneCells:
    """A cell that is the only suppressed one of a relation follows from it: publishing it changes nothing.

    So some cheapest pattern has ``y_k ≤ Σ y`` over the others of each relation (bridge-less inequalities of Fischetti
    and Salazar).
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        usable = np.flatnonzero(problem.usable)
        part = abs(problem.relations[:, usable]).tocsr()
        part = part[np.flatnonzero(np.diff(part.indptr) > 0)]
        self.start, self.cells = part.indptr, usable[part.indices]
        self.free = ~problem.forced[self.cells]

    def violated(self, y: Floats) -> list[Cut]:
        """Inequalities that y violates, one for each relation at most."""
        if not len(self.cells):
            return []
        shares = y[self.cells]
        totals = np.add.reduceat(shares, self.start[:-1])
        largest = np.maximum.reduceat(np.where(self.free, shares, 0.0), self.start[:-1])
        cuts = []
        for row in np.flatnonzero(2 * largest > totals + VIOLATED):
            part = slice(self.start[row], self.start[row + 1])
            cells = self.cells[part]
            lone = int(np.argmax(np.where(self.free[part], shares[part], -1.0)))
            weights = np.ones(len(cells))
            weights[lone] = -1.0
            cuts.append(Cut(cells, weights, least=0.0))
        return cuts
