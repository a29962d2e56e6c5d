"""Separation: the attacker's program for a goal under fractional suppression, and the inequality that its dual gives.

For any multipliers π of the relations, a goal that is met has ``Σ_i (r_i⁻ · above_i + r_i⁺ · below_i) · y_i ≥ level``
with ``r = e − Mᵀπ``: the dual bound of the attacker's program (M. Fischetti and J. J. Salazar, Management Science 47,
2001). Forced cells have y = 1 and go to the right-hand side; what is left may be clipped to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.suppression.problem import Goal, SuppressionProblem
from equivoc.tables.suppression.solver import new_solver, solved

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A published cell counts as suppressed by this share: among many dual solutions, one with few cells is found.
_SHARE_OF_PUBLISHED = 1e-2
# An inequality is violated, a goal met, but for this share of the level.
_VIOLATED = 1e-6
_MET = 1e-7
_ZERO = 1e-9
# Deviations of other cells, in levels: 1 is enough in networks.
_CAP = 16.0


@dataclass(frozen=True, eq=False)
class Cut:
    """``Σ weights · y[cells] ≥ 1`` for every pattern that meets the goals; weights are above 0 and at most 1."""

    cells: Integers
    weights: Floats

    def value(self, y: Floats) -> float:
        """The left-hand side; below 1: violated."""
        return float(self.weights @ y[self.cells])


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
        # Programs with and without a share for published cells start from bases of their own kind.
        self.plain, self.spread = (
            new_solver(matrix, sums=sums, cost=zeros, low=zeros, high=zeros) for _ in "12"
        )
        for solver in (self.plain, self.spread):
            solver.setOptionValue("simplex_strategy", 4)  # from goal to goal, mostly costs change

    def reaches(self, goal: Goal, y: Floats, *, deadline: float) -> bool:
        """Whether the goal is met under y; True is certain but for rounding."""
        return (
            self._attack(self.plain, goal, y, 1.0 if self.problem.network else _CAP, deadline)[0] >= 1 - _MET
        )

    def cut(self, goal: Goal, y: Floats, *, deadline: float) -> Cut | None:
        """A violated inequality, or None if there is none: then the goal is met under y."""
        reached, reduced = self._attack(self.plain, goal, y, 1.0, deadline)
        if reached >= 1 - _MET:
            return None
        plain = self._inequality(goal, reduced)
        _, reduced = self._attack(self.spread, goal, np.maximum(y, _SHARE_OF_PUBLISHED), 1.0, deadline)
        for found in (self._inequality(goal, reduced), plain):
            if found is not None and found.value(y) < 1 - _VIOLATED:
                return found
        if self.problem.network:
            return None
        reached, reduced = self._attack(self.plain, goal, y, _CAP, deadline)
        found = self._inequality(goal, reduced)
        return found if found is not None and found.value(y) < 1 - _VIOLATED else None

    def _attack(
        self, solver: Any, goal: Goal, y: Floats, cap: float, deadline: float
    ) -> tuple[float, Floats]:
        """The greatest deviation of the goal's cell, in levels, and the reduced costs of all cells."""
        share = y[self.cells]
        high = np.minimum(self.above / goal.level, cap) * share
        low = -np.minimum(self.below / goal.level, cap) * share
        known = self.column[list(goal.known)]
        known = known[known >= 0]
        high[known] = low[known] = 0.0
        own = int(self.column[goal.cell])
        solver.changeColsBounds(len(self.every), self.every, low, high)
        solver.changeColCost(own, -float(goal.sign))
        if not solved(solver, deadline):
            raise RuntimeError("no deviation at all is a solution, but HiGHS found none.")
        solution = solver.getSolution()
        reached = goal.sign * solution.col_value[own]
        multipliers = np.array(solution.row_dual)
        nearest = np.rint(multipliers)
        multipliers = np.where(np.abs(nearest - multipliers) < 1e-7, nearest, multipliers)
        reduced = -(self.transposed @ multipliers)
        reduced[own] -= goal.sign
        solver.changeColCost(own, 0.0)
        reduced[known] = 0.0
        return reached, reduced

    def _inequality(self, goal: Goal, reduced: Floats) -> Cut | None:
        reduced = np.where(np.abs(reduced) < _ZERO, 0.0, reduced)
        with np.errstate(invalid="ignore"):  # 0 times no limit
            weights = np.where(reduced > 0, reduced * self.below, -reduced * self.above) / goal.level
        weights[reduced == 0] = 0.0
        forced = self.problem.forced[self.cells]
        rest = 1.0 - float(weights[forced].sum())
        if rest <= _ZERO:
            return None
        used = np.flatnonzero(~forced & (weights > _ZERO))
        return Cut(self.cells[used], np.minimum(weights[used] / rest, 1.0))
