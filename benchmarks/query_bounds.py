"""Query restriction, n = 2,500 records, Q = 8: the closed form against two linear programs per record.

Prints times and ratios within this run, with their bars; exits 1 if one is missed.
scipy's programs take half a minute and more, so a random 100 of the 5,000 are timed and the sum extrapolated.
"""

import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from equivoc.systems.linear_bounds import linear_bounds
from equivoc.systems.range_sums import answered_blocks, bounds, range_sum_answers

RECORDS, SIZE, LOW, HIGH = 2_500, 8, 10.0, 250.0
TIMED_BY_SCIPY = 100
BARS = {"scipy linprog": 10_000, "tuned highspy": 1_000}


def query_matrix() -> sparse.csr_array:
    half = SIZE // 2
    queries = 2 * RECORDS // SIZE - 1
    first = np.arange(queries)[:, None] * half
    columns = (first + np.arange(SIZE)).ravel()
    rows = np.repeat(np.arange(queries), SIZE)
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(queries, RECORDS))


def best_of(times: int, work: Callable[[], object]) -> float:
    spans = []
    for _ in range(times):
        start = perf_counter()
        work()
        spans.append(perf_counter() - start)
    return min(spans)


def by_scipy(
    matrix: sparse.csr_array, sums: NDArray[np.float64], programs: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Bounds number 0 … 2n − 1: even ones are lower, odd ones upper bounds of record number // 2."""
    found = np.empty(len(programs))
    for place, program in enumerate(programs):
        sign = 1.0 - 2.0 * (program % 2)
        cost = np.zeros(RECORDS)
        cost[program // 2] = sign
        found[place] = sign * linprog(cost, A_eq=matrix, b_eq=sums, bounds=(LOW, HIGH), method="highs").fun
    return found


def by_highspy(matrix: sparse.csr_array, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """All 2n programs, each started from the previous basis; no bound propagation, no shared unknowns."""
    solver = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "presolve": "off",
        "simplex_strategy": 4,
        "threads": 1,
    }.items():
        solver.setOptionValue(option, value)
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = np.zeros(RECORDS)
    program.col_lower_, program.col_upper_ = np.full(RECORDS, LOW), np.full(RECORDS, HIGH)
    program.row_lower_ = program.row_upper_ = sums
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver.passModel(program)
    found = np.empty((RECORDS, 2))
    for record in range(RECORDS):
        for side, sign in enumerate((1.0, -1.0)):
            solver.changeColCost(record, sign)
            solver.run()
            found[record, side] = sign * solver.getInfo().objective_function_value
            solver.changeColCost(record, 0.0)
    return found


def main() -> int:
    rng = np.random.default_rng(0)
    domain = np.arange(LOW, HIGH + 10, 10)
    confidential = rng.choice(domain, RECORDS)
    matrix = query_matrix()
    sums = matrix @ confidential

    closed = bounds(confidential, size=SIZE, low=LOW, high=HIGH)
    closed_seconds = best_of(200, lambda: bounds(confidential, size=SIZE, low=LOW, high=HIGH))

    programs = rng.choice(2 * RECORDS, TIMED_BY_SCIPY, replace=False)
    start = perf_counter()
    sampled = by_scipy(matrix, sums, programs)
    scipy_seconds = (perf_counter() - start) * 2 * RECORDS / TIMED_BY_SCIPY
    np.testing.assert_allclose(sampled, closed.ravel()[programs], atol=1e-6)

    start = perf_counter()
    plain = by_highspy(matrix, sums)
    highspy_seconds = perf_counter() - start
    np.testing.assert_allclose(plain, closed, atol=1e-6)

    np.testing.assert_array_equal(linear_bounds(matrix, sums, low=LOW, high=HIGH), closed)
    own_seconds = best_of(3, lambda: linear_bounds(matrix, sums, low=LOW, high=HIGH))
    answers = range_sum_answers(confidential, size=SIZE)
    exact = partial(answered_blocks, size=SIZE, records=RECORDS)
    bayes_seconds = best_of(3, lambda: exact(answers, values=domain).probabilities())

    print(f"query restriction, n = {RECORDS:,}, Q = {SIZE}: bounds of every record, seconds")
    print(f"  closed form                          {closed_seconds:12.6f}   (best of 200)")
    print(f"  scipy linprog, 2n programs           {scipy_seconds:12.3f}   (from {TIMED_BY_SCIPY} of them)")
    print(f"  tuned highspy, 2n warm-started ones  {highspy_seconds:12.3f}")
    print(f"  linear_bounds, any query matrix      {own_seconds:12.6f}")
    print(f"  exact posterior (not the same work)  {bayes_seconds:12.6f}")
    missed = 0
    for name, seconds in {"scipy linprog": scipy_seconds, "tuned highspy": highspy_seconds}.items():
        ratio = seconds / closed_seconds
        missed += ratio < BARS[name]
        verdict = "reached" if ratio >= BARS[name] else "MISSED"
        print(f"  closed form is {ratio:10,.0f} × faster than {name}; bar {BARS[name]:,} ×: {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
