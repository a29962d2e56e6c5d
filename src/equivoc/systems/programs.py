"""Linear and mixed-integer programs, solved by HiGHS on one thread, again and again from the last solution."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

Floats = NDArray[np.float64]


class Status(Enum):
    """How a run ended; the values are HiGHS' names. Every other end is UNSOLVED."""

    OPTIMAL = "kOptimal"
    EMPTY = "kModelEmpty"
    """There is no unknown; the rows were not looked at."""
    IMPOSSIBLE = "kInfeasible"
    TIME_UP = "kTimeLimit"
    UNSOLVED = ""


class TimeUpError(Exception):
    """The time limit was reached inside a solver."""


class UnsolvableError(InputError):
    """Numbers that cannot be computed with in float64."""


@dataclass(frozen=True, eq=False)
class Program:
    """``min cost · x`` with ``least ≤ matrix @ x ≤ most`` and ``low ≤ x ≤ high``; the matrix is a scipy CSR array."""

    matrix: Any
    least: Floats
    most: Floats
    cost: Floats
    low: Floats
    high: Floats
    whole: int = 0
    """So many unknowns, the first ones, are whole numbers."""


class Solver:
    """A program in HiGHS. After a change, it starts from the last solution; ``options`` are those of HiGHS."""

    def __init__(self, program: Program, **options: bool | float | str) -> None:
        import highspy

        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.set(output_flag=False, threads=1, **options)
        given = highspy.HighsLp()
        given.num_row_, given.num_col_ = program.matrix.shape
        given.col_cost_, given.col_lower_, given.col_upper_ = program.cost, program.low, program.high
        given.row_lower_, given.row_upper_ = program.least, program.most
        given.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        given.a_matrix_.start_, given.a_matrix_.index_ = program.matrix.indptr, program.matrix.indices
        given.a_matrix_.value_ = program.matrix.data
        if program.whole:
            kind = highspy.HighsVarType
            free = len(program.low) - program.whole
            given.integrality_ = [kind.kInteger] * program.whole + [kind.kContinuous] * free
        self._solver.passModel(given)

    def set(self, **options: bool | float | str) -> None:
        """Set options of HiGHS for all further runs."""
        for option, setting in options.items():
            self._solver.setOptionValue(option, setting)

    def set_cost(self, column: int, cost: float) -> None:
        """The cost of one unknown."""
        self._solver.changeColCost(column, cost)

    def set_costs(self, cost: Floats) -> None:
        """The costs of all unknowns."""
        every = np.arange(len(cost), dtype=np.int32)
        self._solver.changeColsCost(len(every), every, cost)

    def set_bounds(self, low: Floats, high: Floats, columns: NDArray[np.int32] | None = None) -> None:
        """The bounds of these unknowns; None: of all."""
        if columns is None:
            columns = np.arange(len(low), dtype=np.int32)
        self._solver.changeColsBounds(len(columns), columns, low, high)

    def add_row(self, least: float, columns: NDArray[np.int32], weights: Floats) -> None:
        """One more row: ``least ≤ weights · x[columns]``."""
        self._solver.addRow(least, np.inf, len(columns), columns, weights)

    def start_from(self, x: Floats) -> None:
        """A solution that is known."""
        import highspy

        known = highspy.HighsSolution()
        known.col_value = x
        self._solver.setSolution(known)

    def run(self, deadline: float | None = None) -> Status:
        """Run HiGHS once. TimeUpError if ``deadline`` (of perf_counter) has already passed."""
        if deadline is not None:
            left = deadline - perf_counter()
            if left <= 0:
                raise TimeUpError
            # HiGHS counts the time of all runs of a solver together.
            self.set(time_limit=self._solver.getRunTime() + left)
        self._solver.run()
        name = self._solver.getModelStatus().name
        return next((status for status in Status if status.value == name), Status.UNSOLVED)

    def solve(self, deadline: float | None = None) -> bool:
        """True: solved; False: impossible. TimeUpError once ``deadline`` has passed, UnsolvableError otherwise."""
        status = self.run(deadline)
        if status is Status.UNSOLVED:
            # The warm start stalled: discard the basis and solve again from the start.
            self._solver.clearSolver()
            status = self.run(deadline)
        if status is Status.TIME_UP:
            raise TimeUpError
        if status is Status.UNSOLVED:
            raise self.unsolvable()
        return status is not Status.IMPOSSIBLE

    def unsolvable(self) -> UnsolvableError:
        """The error for a bounded program that ended neither solved nor impossible."""
        status = self._solver.modelStatusToString(self._solver.getModelStatus())
        return UnsolvableError(
            f"a linear program over these numbers could not be solved (HiGHS ended with {status}): they are too large, "
            "or of too different size, to compute with. Use another unit, or round them."
        )

    @property
    def solution(self) -> Floats | None:
        """The best x of the last run; None if it found none."""
        found = self._solver.getSolution()
        return np.array(found.col_value) if found.value_valid else None

    @property
    def x(self) -> Floats:
        """The unknowns as the last run left them."""
        return np.array(self._solver.getSolution().col_value)

    @property
    def multipliers(self) -> Floats:
        """The dual solution: a multiplier of each row."""
        return np.array(self._solver.getSolution().row_dual)

    @property
    def objective(self) -> float:
        """The cost of the last run's x."""
        return float(self._solver.getInfo().objective_function_value)

    @property
    def bound(self) -> float:
        """With whole numbers: a proven lower bound of the cost."""
        return float(self._solver.getInfo().mip_dual_bound)
