"""Inequalities that protected patterns satisfy, and the attacker's programs that find violated ones.

With y = 1 for a suppressed cell and any multipliers π of the relations, a goal that is met has
``Σ_i (r_i⁻ · above_i + r_i⁺ · below_i) · y_i ≥ level`` with ``r = e − Mᵀπ``: the dual bound of the attacker's program
(M. Fischetti and J. J. Salazar, Management Science 47, 2001). Forced cells have y = 1 and go to the right-hand side;
what is left may be clipped to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.suppression.problem import Goal, SuppressionProblem
from equivoc.tables.suppression.solver import new_solver, solved

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# An inequality is violated, a goal met, but for this share of the level.
VIOLATED = 1e-6
_MET = 1e-7
_ZERO = 1e-9
# Deviations of other cells, in levels: 1 is enough in networks.
_CAP = 16.0


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
    """The attacker's programs of one problem: how far can the cell of a goal deviate?"""

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        self.cells = np.flatnonzero(problem.usable)
        self.column = np.full(len(problem.cost), -1)
        self.column[self.cells] = np.arange(len(self.cells))
        part = problem.relations[:, self.cells]
        matrix = part[np.flatnonzero(np.diff(part.indptr) > 0)]
        self.transposed = matrix.T.tocsr()
        self.every = np.arange(len(self.cells), dtype=np.int32)
        self.above, self.below = problem.room_above[self.cells], problem.room_below[self.cells]
        zeros, sums = np.zeros(len(self.cells)), np.zeros(matrix.shape[0])
        self.solver = new_solver(matrix, sums=sums, cost=zeros, low=zeros, high=zeros)
        self.solver.setOptionValue("simplex_strategy", 4)  # from goal to goal, mostly costs change

    def reaches(self, goal: Goal, y: Floats, *, deadline: float) -> bool:
        """Whether the goal is met under y; True is certain but for rounding."""
        cap = 1.0 if self.problem.network else _CAP
        return self._attack(goal, y, cap, deadline)[0] >= 1 - _MET

    def cut(self, goal: Goal, y: Floats, *, deadline: float) -> Cut | None:
        """A violated inequality, or None if there is none: then the goal is met under y."""
        for cap in (1.0,) if self.problem.network else (1.0, _CAP):
            reached, reduced = self._attack(goal, y, cap, deadline)
            if reached >= 1 - _MET:
                return None
            found = self._inequality(goal, reduced)
            if found is not None and found.violated(y):
                return found
        return None

    def _attack(self, goal: Goal, y: Floats, cap: float, deadline: float) -> tuple[float, Floats]:
        """The greatest deviation of the goal's cell, in levels, and the reduced costs of all cells."""
        share = y[self.cells]
        high = np.minimum(self.above / goal.level, cap) * share
        low = -np.minimum(self.below / goal.level, cap) * share
        known = self.column[list(goal.known)]
        known = known[known >= 0]
        high[known] = low[known] = 0.0
        own = int(self.column[goal.cell])
        self.solver.changeColsBounds(len(self.every), self.every, low, high)
        self.solver.changeColCost(own, -float(goal.sign))
        if not solved(self.solver, deadline):
            raise RuntimeError("no deviation at all is a solution, but HiGHS found none.")
        solution = self.solver.getSolution()
        reached = goal.sign * solution.col_value[own]
        multipliers = np.array(solution.row_dual)
        nearest = np.rint(multipliers)
        multipliers = np.where(np.abs(nearest - multipliers) < 1e-7, nearest, multipliers)
        reduced = -(self.transposed @ multipliers)
        reduced[own] -= goal.sign
        self.solver.changeColCost(own, 0.0)
        reduced[known] = 0.0
        return reached, reduced

    def _inequality(self, goal: Goal, reduced: Floats) -> Cut | None:
        reduced = np.where(np.abs(reduced) < _ZERO, 0.0, reduced)
        with np.errstate(invalid="ignore"):  # 0 times no limit
            weights = np.where(reduced > 0, reduced * self.below, -reduced * self.above) / goal.level
        weights[reduced == 0] = 0.0
        return goal_cut(self.problem, self.cells, weights)
