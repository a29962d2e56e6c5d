"""Systems of known sums of bounded unknowns; bound propagation without a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.programs import Program, Solver, Status
from equivoc.systems.system import ContradictionError

MOST_ROUNDS = 1000
# Unknowns are scaled to about 1: a narrower interval counts as a point, a smaller change as none.
_POINT = 1e-12


@dataclass(frozen=True)
class SumSystem:
    """``matrix @ x = sums`` with ``low ≤ x ≤ high``; the matrix is a scipy CSR array of 0, 1 and −1."""

    matrix: Any
    sums: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    rounding: float
    """The tolerance within which a sum counts as satisfied."""

    def part(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> SumSystem:
        """The system of some sums and unknowns; the sums must have no other unknowns."""
        return SumSystem(
            self.matrix[rows][:, columns],
            self.sums[rows],
            self.low[columns],
            self.high[columns],
            self.rounding,
        )


def contradiction() -> ContradictionError:
    """The error for contradictory sums."""
    return ContradictionError(
        "sums contradict each other or the bounds: no values between low and high have these sums."
    )


def tighten(system: SumSystem, *, rounds: int = MOST_ROUNDS) -> tuple[SumSystem, bool]:
    """Propagate bounds from sum to sum until none changes: ``x_j ≥ sum − (upper bounds of the others)``, and so on.

    All bounds must be finite.

    Returns the system with its new bounds, and whether they converged within ``rounds``. Converged bounds are
    exact for every part of the system that is a forest; elsewhere they contain the exact ones.
    """
    by_row = system.matrix
    row = np.repeat(np.arange(by_row.shape[0]), np.diff(by_row.indptr))
    column = by_row.indices
    subtracted = by_row.data < 0
    signed = bool(subtracted.any())
    added_part, subtracted_part = (abs(by_row) + by_row) / 2, (abs(by_row) - by_row) / 2
    low, high = system.low.copy(), system.high.copy()
    for _ in range(rounds):
        spare_low = system.sums - added_part @ high
        spare_high = system.sums - added_part @ low
        if signed:
            spare_low, spare_high = spare_low + subtracted_part @ low, spare_high + subtracted_part @ high
        if np.any(spare_low > system.rounding) or np.any(spare_high < -system.rounding):
            raise contradiction()
        new_low, new_high = low.copy(), high.copy()
        # −x between the spare bounds is x between their negatives.
        at_least = np.where(subtracted, -spare_high[row], spare_low[row])
        at_most = np.where(subtracted, -spare_low[row], spare_high[row])
        np.maximum.at(new_low, column, at_least + high[column])
        np.minimum.at(new_high, column, at_most + low[column])
        if np.any(new_low > new_high + system.rounding):
            raise contradiction()
        # Rounding may put the lower bound of a point above its upper bound.
        new_low, new_high = np.minimum(new_low, new_high), np.maximum(new_low, new_high)
        moved = max(np.max(new_low - low, initial=0.0), np.max(high - new_high, initial=0.0))
        low, high = new_low, new_high
        if moved <= _POINT:
            return replace(system, low=low, high=high), True
    return replace(system, low=low, high=high), False


def without_fixed(system: SumSystem) -> tuple[SumSystem, NDArray[np.int64]]:
    """The system of the unknowns that are not yet fixed, and their positions.

    Unknowns in no sum, and sums without a remaining unknown, are left out too: they give no more information.
    """
    midpoint = (system.low + system.high) / 2
    open_ = system.high - system.low > _POINT
    in_some_sum = np.bincount(system.matrix.indices, minlength=len(open_)) > 0
    kept = np.flatnonzero(open_ & in_some_sum)
    fixed = np.where(open_, 0.0, midpoint)
    matrix = system.matrix[:, kept]
    sums = system.sums - system.matrix @ fixed
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    return SumSystem(matrix[rows], sums[rows], system.low[kept], system.high[kept], system.rounding), kept


def components(system: SumSystem) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows and columns of the parts that share no unknown."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    rows, columns = system.matrix.shape
    if columns == 0:
        return []
    links = sparse.block_array([[None, system.matrix], [system.matrix.T, None]], format="csr")
    count, label = connected_components(links, directed=False)
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.searchsorted(label[order], np.arange(1, count)))
    return [(part[part < rows], part[part >= rows] - rows) for part in parts]


def is_forest(system: SumSystem) -> bool:
    """Whether a connected system has no cycle of sums and unknowns."""
    rows, columns = system.matrix.shape
    return bool(system.matrix.nnz == rows + columns - 1)


# The range of every unknown of a system of sums, by the simplex method (HiGHS).

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
    for sign, proven, attained, goal in sides:
        open_now, worth_it = np.count_nonzero(_apart(sign, proven, attained, goal)), True
        while open_now and worth_it:
            solver.set_costs(sign * _apart(sign, proven, attained, goal))
            solve_and_note()
            open_before, open_now = open_now, np.count_nonzero(_apart(sign, proven, attained, goal))
            worth_it = bool(open_now <= (1 - _WORTH_PRESSING) * open_before)
    solver.set_costs(np.zeros(len(low)))
    cost = np.zeros(len(low))
    for sign, proven, attained, goal in sides:
        for column in range(len(low)):
            if _apart(sign, proven[column], attained[column], goal[column]):
                solver.set_cost(column, sign)
                solve_and_note()
                cost[column] = sign
                bound = sign * _dual_bound(solver, system, cost)
                proven[column] = sign * max(sign * proven[column], sign * bound)
                solver.set_cost(column, 0.0)
                cost[column] = 0.0
    return low, high


def interior_solution(system: SumSystem) -> NDArray[np.float64]:
    """A solution by the interior-point method, away from bounds where possible; raises if there is none."""
    solver = _solver(system)
    solver.set(solver="ipm", run_crossover="off", presolve="on")
    if solver.run() is not Status.OPTIMAL:
        # The method does not always recognise a system without solutions; the simplex method does.
        solver.set(solver="simplex")
        return _solve(solver)
    return solver.x


def bound_of_one(system: SumSystem, column: int, *, sign: float) -> float:
    """A lower bound (``sign`` 1) or upper bound (−1) of one unknown, from one program."""
    solver = _solver(system)
    # One program, from no basis: the solver's own defaults are the fastest.
    solver.set(presolve="choose", simplex_strategy=1)
    solver.set_cost(column, sign)
    _solve(solver)
    cost = np.zeros(len(system.low))
    cost[column] = sign
    return sign * _dual_bound(solver, system, cost)


def _apart(sign: float, proven: Any, attained: Any, goal: Any) -> Any:
    """Whether the attained value is on the open side of both the proven bound and the goal."""
    return (sign * (attained - proven) > _ATTAINED) & (sign * (attained - goal) > _ATTAINED)


def _dual_bound(solver: Solver, system: SumSystem, cost: NDArray[np.float64]) -> float:
    """A lower bound of ``cost · x``: for any multipliers y, ``y · sums`` plus the least of ``(cost − Aᵀy) · x``."""
    multipliers = solver.multipliers
    reduced = cost - system.matrix.T @ multipliers
    # A cost of 0 but for rounding times an unlimited value is 0.
    unlimited = np.isinf(system.low) | np.isinf(system.high)
    reduced[unlimited & (np.abs(reduced) <= 10 * system.rounding)] = 0.0
    limits = np.where(reduced > 0, system.low, np.where(reduced < 0, system.high, 0.0))
    return float(multipliers @ system.sums + reduced @ limits)


def _solver(system: SumSystem) -> Solver:
    program = Program(
        system.matrix, system.sums, system.sums, np.zeros(len(system.low)), system.low, system.high
    )
    # Only costs change between programs: the last basis stays feasible, and presolve would discard it.
    return Solver(
        program,
        presolve="off",
        simplex_strategy=4,
        primal_feasibility_tolerance=system.rounding,
        dual_feasibility_tolerance=system.rounding,
    )


def _solve(solver: Solver) -> NDArray[np.float64]:
    if not solver.solve():
        raise contradiction()
    return solver.x
