"""The cheapest pattern that satisfies all inequalities found so far: relaxed (linear) or whole (mixed-integer)."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.suppression.cuts import Cut
from equivoc.tables.suppression.problem import SuppressionProblem
from equivoc.tables.suppression.solver import TimeUpError, new_solver, solved

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
        self.solver = new_solver(
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
            self.solver.addRow(cut.least, np.inf, len(columns), columns, cut.weights)
            added += 1
        return added

    def fix(self, cells: NDArray[np.int64]) -> None:
        """Suppress these free cells in all further programs."""
        columns = self.column[cells].astype(np.int32)
        self.low[columns] = 1.0
        self.solver.changeColsBounds(len(columns), columns, np.ones(len(columns)), np.ones(len(columns)))

    def unfix(self) -> None:
        """Undo all fixing."""
        self.low[:] = 0.0
        every = np.arange(len(self.low), dtype=np.int32)
        self.solver.changeColsBounds(len(every), every, self.low, self.high)

    def relaxed(self, deadline: float) -> tuple[Floats, float]:
        """y of every cell of the table (1 for forced ones), and the cost: a lower bound, unless cells are fixed."""
        if not solved(self.solver, deadline):
            raise RuntimeError("inequalities that suppressing everything satisfies have no solution.")
        y = self.problem.forced.astype(np.float64)
        y[self.free] = np.clip(self.solver.getSolution().col_value, 0.0, 1.0)
        return y, self.unit * float(self.solver.getInfo().objective_function_value)

    def whole(self, start: Booleans, deadline: float) -> tuple[Booleans, float, bool]:
        """The cheapest pattern of all, a lower bound of its cost, and whether it is proven; ``start`` is a pattern
        that satisfies all inequalities."""
        import highspy

        solver = self._mixed_integer()
        given = highspy.HighsSolution()
        given.col_value = start[self.free].astype(np.float64)
        solver.setSolution(given)
        left = deadline - perf_counter()
        if left <= 0:
            raise TimeUpError
        solver.setOptionValue("time_limit", left)
        solver.run()
        status = solver.getModelStatus()
        bound = self.unit * float(solver.getInfo().mip_dual_bound)
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit):
            raise RuntimeError(f"HiGHS ended with {solver.modelStatusToString(status)} on a bounded program.")
        pattern = self.problem.forced.copy()
        solution = solver.getSolution()
        if not solution.value_valid:
            return start, bound, False
        pattern[self.free] = np.array(solution.col_value) > 0.5
        return pattern, bound, status == highspy.HighsModelStatus.kOptimal

    def _mixed_integer(self) -> Any:
        import highspy

        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, setting in {
            "output_flag": False,
            "threads": 1,
            "mip_rel_gap": 1e-9,
            "mip_abs_gap": 1e-9,
            "mip_feasibility_tolerance": 1e-9,
        }.items():
            solver.setOptionValue(option, setting)
        count = len(self.free)
        lengths = [len(cut.cells) for cut in self.cuts]
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = len(self.cuts), count
        program.col_cost_, program.col_lower_, program.col_upper_ = self.cost, np.zeros(count), self.high
        program.row_lower_ = np.array([cut.least for cut in self.cuts])
        program.row_upper_ = np.full(len(self.cuts), np.inf)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        program.a_matrix_.index_ = (
            np.concatenate([self.column[cut.cells] for cut in self.cuts]).astype(np.int32)
            if self.cuts
            else np.zeros(0, dtype=np.int32)
        )
        program.a_matrix_.value_ = (
            np.concatenate([cut.weights for cut in self.cuts]) if self.cuts else np.zeros(0)
        )
        program.integrality_ = [highspy.HighsVarType.kInteger] * count
        solver.passModel(program)
        return solver
