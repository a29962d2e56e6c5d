"""The range of every unknown of a system of sums, by the simplex method (HiGHS)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.sum_systems import SumSystem, contradiction

# A known solution this close to a proven bound counts as attaining it.
_ATTAINED = 1e-9
# Optimising many unknowns at once costs about ten programs; repeat only if it settled this share of the open ones.
_WORTH_PRESSING = 0.25


def attained_range(
    system: SumSystem,
    *,
    enough: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    notice: Callable[[NDArray[np.float64]], None] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and greatest value of each unknown.

    The system's bounds are proven; the values of a known solution are attained. Where the two are equal, no program
    is solved. Programs that optimise many unknowns at once come first: one solution attains many bounds. Nor is one
    solved for an unknown that a known solution puts at or below ``enough[0]`` (at or above ``enough[1]``): there the
    bound that is returned stays the system's own. ``notice`` is called with every solution.

    Returned bounds are those of the dual solution, which hold whatever the solver's tolerances.
    """
    solver = _solver(system)
    first = _solve(solver)
    least, greatest = first.copy(), first.copy()
    low, high = system.low.copy(), system.high.copy()
    enough_low, enough_high = (low, high) if enough is None else enough
    sides = ((1.0, low, least, enough_low), (-1.0, high, greatest, enough_high))

    def solve_and_note() -> NDArray[np.float64]:
        solution = _solve(solver)
        np.minimum(least, solution, out=least)
        np.maximum(greatest, solution, out=greatest)
        if notice is not None:
            notice(solution)
        return solution

    if notice is not None:
        notice(first)
    every = np.arange(len(low), dtype=np.int32)
    for sign, proven, attained, goal in sides:
        open_now, worth_it = np.count_nonzero(_apart(sign, proven, attained, goal)), True
        while open_now and worth_it:
            solver.changeColsCost(len(every), every, sign * _apart(sign, proven, attained, goal))
            solve_and_note()
            open_before, open_now = open_now, np.count_nonzero(_apart(sign, proven, attained, goal))
            worth_it = bool(open_now <= (1 - _WORTH_PRESSING) * open_before)
    solver.changeColsCost(len(every), every, np.zeros(len(every)))
    cost = np.zeros(len(every))
    for sign, proven, attained, goal in sides:
        for column in every:
            if _apart(sign, proven[column], attained[column], goal[column]):
                solver.changeColCost(column, sign)
                solve_and_note()
                cost[column] = sign
                bound = sign * _dual_bound(solver, system, cost)
                proven[column] = sign * max(sign * proven[column], sign * bound)
                solver.changeColCost(column, 0.0)
                cost[column] = 0.0
    return low, high


def interior_solution(system: SumSystem) -> NDArray[np.float64]:
    """A solution by the interior-point method, away from bounds where possible; raises if there is none."""
    from highspy import HighsModelStatus

    solver = _solver(system)
    for option, value in {"solver": "ipm", "run_crossover": "off", "presolve": "on"}.items():
        solver.setOptionValue(option, value)
    solver.run()
    if solver.getModelStatus() != HighsModelStatus.kOptimal:
        # The method does not always recognise a system without solutions; the simplex method does.
        solver.setOptionValue("solver", "simplex")
        return _solve(solver)
    return np.array(solver.getSolution().col_value)


def bound_of_one(system: SumSystem, column: int, *, sign: float) -> float:
    """A lower bound (``sign`` 1) or upper bound (−1) of one unknown, from one program."""
    solver = _solver(system)
    # One program, from no basis: the solver's own defaults are the fastest.
    for option, value in {"presolve": "choose", "simplex_strategy": 1}.items():
        solver.setOptionValue(option, value)
    solver.changeColCost(column, sign)
    _solve(solver)
    cost = np.zeros(len(system.low))
    cost[column] = sign
    return sign * _dual_bound(solver, system, cost)


def _apart(sign: float, proven: Any, attained: Any, goal: Any) -> Any:
    """Whether the attained value is on the open side of both the proven bound and the goal."""
    return (sign * (attained - proven) > _ATTAINED) & (sign * (attained - goal) > _ATTAINED)


def _dual_bound(solver: Any, system: SumSystem, cost: NDArray[np.float64]) -> float:
    """A lower bound of ``cost · x``: for any multipliers y, ``y · sums`` plus the least of ``(cost − Aᵀy) · x``."""
    multipliers = np.array(solver.getSolution().row_dual)
    reduced = cost - system.matrix.T @ multipliers
    # A cost of 0 but for rounding times an unlimited value is 0.
    unlimited = np.isinf(system.low) | np.isinf(system.high)
    reduced[unlimited & (np.abs(reduced) <= 10 * system.rounding)] = 0.0
    limits = np.where(reduced > 0, system.low, np.where(reduced < 0, system.high, 0.0))
    return float(multipliers @ system.sums + reduced @ limits)


def _solver(system: SumSystem) -> Any:
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    # Only costs change between programs: the last basis stays feasible, and presolve would discard it.
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("simplex_strategy", 4)
    solver.setOptionValue("primal_feasibility_tolerance", system.rounding)
    solver.setOptionValue("dual_feasibility_tolerance", system.rounding)
    solver.setOptionValue("threads", 1)
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = system.matrix.shape
    program.col_cost_ = np.zeros(len(system.low))
    program.col_lower_, program.col_upper_ = system.low, system.high
    program.row_lower_ = program.row_upper_ = system.sums
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = system.matrix.indptr
    program.a_matrix_.index_ = system.matrix.indices
    program.a_matrix_.value_ = system.matrix.data
    solver.passModel(program)
    return solver


def _solve(solver: Any) -> NDArray[np.float64]:
    from highspy import HighsModelStatus

    solver.run()
    if solver.getModelStatus() not in (HighsModelStatus.kOptimal, HighsModelStatus.kInfeasible):
        # The warm start stalled: discard the basis and solve again from the start.
        solver.clearSolver()
        solver.run()
    status = solver.getModelStatus()
    if status == HighsModelStatus.kInfeasible:
        raise contradiction()
    if status != HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS ended with {solver.modelStatusToString(status)} on a bounded program.")
    return np.array(solver.getSolution().col_value)
