"""HiGHS as the suppression programs use it."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOLERANCE = 1e-9
"""Of sums and costs in the programs, whose levels are scaled to 1."""


class TimeUpError(Exception):
    """The time limit was reached inside a solver."""


def new_solver(matrix: Any, *, sums: Floats, cost: Floats, low: Floats, high: Floats) -> Any:
    """A HiGHS model of ``min cost · x`` with ``matrix @ x = sums`` and ``low ≤ x ≤ high``; no presolve, one thread."""
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, setting in {
        "output_flag": False,
        "presolve": "off",
        "threads": 1,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }.items():
        solver.setOptionValue(option, setting)
    rows = matrix.tocsr()
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = rows.shape
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, low, high
    program.row_lower_ = program.row_upper_ = sums
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = rows.indptr
    program.a_matrix_.index_ = rows.indices
    program.a_matrix_.value_ = rows.data
    solver.passModel(program)
    return solver


def solved(solver: Any, deadline: float) -> bool:
    """Solve; True: optimal; False: infeasible. TimeUpError once ``deadline`` (of perf_counter) has passed."""
    from highspy import HighsModelStatus

    for attempt in range(2):
        left = deadline - perf_counter()
        if left <= 0:
            raise TimeUpError
        # HiGHS counts the time of all runs of a solver together.
        solver.setOptionValue("time_limit", solver.getRunTime() + left)
        solver.run()
        status = solver.getModelStatus()
        if status in (HighsModelStatus.kOptimal, HighsModelStatus.kModelEmpty):
            return True
        if status == HighsModelStatus.kInfeasible:
            return False
        if status == HighsModelStatus.kTimeLimit:
            raise TimeUpError
        if attempt == 0:
            # The warm start stalled: discard the basis and solve again from the start.
            solver.clearSolver()
    raise RuntimeError(f"HiGHS ended with {solver.modelStatusToString(status)} on a bounded program.")
