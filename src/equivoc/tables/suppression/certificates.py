"""Deviations that prove a goal: the cheapest ones over the cells that may be used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.suppression.problem import Goal, SuppressionProblem
from equivoc.tables.suppression.solver import new_solver, solved

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

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
        count = 2 * len(cells)
        zeros = np.zeros(count)
        self.every = np.arange(count, dtype=np.int32)
        self.room = np.concatenate([problem.room_above[cells], problem.room_below[cells]])
        self.solver = new_solver(matrix, sums=np.zeros(part.shape[0]), cost=zeros, low=zeros, high=zeros)

    def price(self, cost: Floats) -> None:
        """Set the cost of a deviation of one level of each cell of the table."""
        both = np.tile(cost[self.cells], 2)
        self.solver.changeColsCost(len(self.every), self.every, both)

    def cheapest(self, goal: Goal, usable: Booleans, *, deadline: float) -> tuple[Integers, Floats] | None:
        """Cells and their deviations, in levels of the goal, or None if the usable cells cannot meet the goal."""
        caps = (1.0,) if self.problem.network else (_FIRST_CAP, _LAST_CAP)
        for cap in caps:
            high = np.minimum(self.room / goal.level, cap)
            high[~np.tile(usable[self.cells], 2)] = 0.0
            for cell in goal.known:
                high[self._columns(cell)] = 0.0
            low = np.zeros(len(high))
            own, opposite = self._columns(goal.cell)[:: goal.sign]
            if high[own] < 1.0:
                return None
            low[own], high[opposite] = 1.0, 0.0
            high[own] = 1.0
            self.solver.changeColsBounds(len(self.every), self.every, low, high)
            if solved(self.solver, deadline):
                values = np.array(self.solver.getSolution().col_value)
                deviations = values[: len(self.cells)] - values[len(self.cells) :]
                used = np.flatnonzero(np.abs(deviations) > _ZERO)
                return self.cells[used], deviations[used]
        return None

    def _columns(self, cell: int) -> list[int]:
        at = int(self.column[cell])
        return [at, at + len(self.cells)] if at >= 0 else []
