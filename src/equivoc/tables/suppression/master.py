"""The cheapest pattern that satisfies all inequalities found so far: relaxed (linear) or whole (mixed-integer)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.programs import Program, Solver, Status
from equivoc.tables.suppression.cuts import Cut
from equivoc.tables.suppression.problem import SuppressionProblem, solver_of

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Master:
    """``min Σ cost · y`` over the free cells, 0 ≤ y ≤ 1, with the inequalities added so far."""

    def __init__(self, problem: SuppressionProblem) -> None:
        from scipy import sparse

        self.problem, self.free = problem, problem.free
        self.column = np.full(len(problem.cost), -1)
        self.column[self.free] = np.arange(len(self.free))
        # Costs of about 1: the solver's tolerances are absolute.
        self.unit = float(np.max(problem.cost[self.free], initial=0.0)) or 1.0
        self.cost = problem.cost[self.free] / self.unit
        count = len(self.free)
        self.low, self.high = np.zeros(count), np.ones(count)
        self.cuts: list[Cut] = []
        self.seen: set[bytes] = set()
        self.solver = solver_of(
            sparse.csr_array((0, count)), sums=np.zeros(0), cost=self.cost, low=self.low, high=self.high
        )

    def add(self, cuts: Sequence[Cut]) -> int:
        """Add inequalities that are not there yet; returns how many."""
        added = 0
        for cut in cuts:
            key = cut.cells.tobytes() + np.round(cut.weights, 9).tobytes() + bytes([int(cut.least)])
            if key in self.seen:
                continue
            self.seen.add(key)
            self.cuts.append(cut)
            columns = self.column[cut.cells].astype(np.int32)
            self.solver.add_row(cut.least, columns, cut.weights)
            added += 1
        return added

    def fix(self, cells: NDArray[np.int64]) -> None:
        """Suppress these free cells in all further programs."""
        columns = self.column[cells].astype(np.int32)
        self.low[columns] = 1.0
        self.solver.set_bounds(np.ones(len(columns)), np.ones(len(columns)), columns)

    def unfix(self) -> None:
        """Undo all fixing."""
        self.low[:] = 0.0
        self.solver.set_bounds(self.low, self.high)

    def relaxed(self, deadline: float) -> tuple[Floats, float]:
        """y of every cell of the table (1 for forced ones), and the cost: a lower bound, unless cells are fixed."""
        if not self.solver.solve(deadline):
            raise RuntimeError("inequalities that suppressing everything satisfies have no solution.")
        y = self.problem.forced.astype(np.float64)
        y[self.free] = np.clip(self.solver.x, 0.0, 1.0)
        return y, self.unit * self.solver.objective

    def whole(self, start: Booleans, deadline: float) -> tuple[Booleans, float, bool]:
        """The cheapest pattern of all, a lower bound of its cost, and whether it is proven; ``start`` is a pattern
        that satisfies all inequalities."""
        solver = Solver(
            self._whole_program(), mip_rel_gap=1e-9, mip_abs_gap=1e-9, mip_feasibility_tolerance=1e-9
        )
        solver.start_from(start[self.free].astype(np.float64))
        status = solver.run(deadline)
        bound = self.unit * solver.bound
        if status not in (Status.OPTIMAL, Status.TIME_UP):
            raise solver.unsolvable()
        pattern, solution = self.problem.forced.copy(), solver.solution
        if solution is None:
            return start, bound, False
        pattern[self.free] = solution > 0.5
        return pattern, bound, status is Status.OPTIMAL

    def _whole_program(self) -> Program:
        from scipy import sparse

        count, rows = len(self.free), len(self.cuts)
        ends = np.cumsum([0, *(len(cut.cells) for cut in self.cuts)])
        columns = np.concatenate([np.zeros(0, np.int64), *(self.column[cut.cells] for cut in self.cuts)])
        weights = np.concatenate([np.zeros(0), *(cut.weights for cut in self.cuts)])
        return Program(
            sparse.csr_array((weights, columns, ends), shape=(rows, count)),
            least=np.array([cut.least for cut in self.cuts]),
            most=np.full(rows, np.inf),
            cost=self.cost,
            low=np.zeros(count),
            high=self.high,
            whole=count,
        )
