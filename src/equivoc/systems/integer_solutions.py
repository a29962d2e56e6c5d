"""All integer solutions of linear equations: one of them, and a lattice basis of the moves between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Entries beyond this are not risked in 64-bit arithmetic.
_LARGEST = 2**40


@dataclass(frozen=True, eq=False)
class IntegerSolutions:
    """Every integer x with A·x = b is ``point`` + an integer combination of the rows of ``moves``."""

    point: NDArray[np.int64]
    moves: Any
    """A scipy CSR array, moves × variables."""


def integer_solutions(matrix: NDArray[np.int64], totals: NDArray[np.int64]) -> IntegerSolutions | None:
    """Solve A·x = b over the integers; None if there is no solution. OverflowError beyond 64 bits.

    Exact: elimination with pivots ±1 while there are any, then unimodular column operations for the rest.

    >>> solved = integer_solutions(np.array([[1, 1, 0], [0, 1, 1]]), np.array([3, 5]))
    >>> solved.point.tolist(), solved.moves.toarray().tolist()
    ([3, 0, 5], [[-1, 1, -1]])
    """
    from scipy.sparse import csr_array, eye_array, hstack

    rows, columns = matrix.shape
    work = np.column_stack([matrix, totals]).astype(np.int64)
    pivots: list[tuple[int, int]] = []
    left = np.ones(rows, dtype=bool)
    filled = (work[:, :columns] != 0).sum(axis=1)
    while True:
        chosen = _unit_pivot(work[:, :columns], left, filled)
        if chosen is None:
            break
        row, column = chosen
        if work[row, column] < 0:
            work[row] = -work[row]
        others = np.flatnonzero(work[:, column])
        others = others[others != row]
        used = np.flatnonzero(work[row])
        if len(others):
            work[np.ix_(others, used)] -= work[others, column][:, None] * work[row, used][None, :]
            filled[others] = (work[others, :columns] != 0).sum(axis=1)
            if work.dtype != object and np.abs(work[np.ix_(others, used)]).max() > _LARGEST:
                work = work.astype(object)
        left[row] = False
        pivots.append((row, column))
    pivot_columns = np.array([column for _, column in pivots], dtype=np.int64)
    free = np.setdiff1d(np.arange(columns), pivot_columns)
    rest = work[left]
    rest = rest[np.any(rest != 0, axis=1)]
    solved = _by_columns(rest[:, free], rest[:, columns]) if len(rest) else None
    if len(rest) and solved is None:
        return None
    start, inner = solved or (np.zeros(len(free), dtype=np.int64), None)
    pivot_rows = work[[row for row, _ in pivots]]
    block = pivot_rows[:, free]
    point = np.zeros(columns, dtype=object)
    point[free] = start
    point[pivot_columns] = pivot_rows[:, columns] - block @ start
    if inner is None:
        moved = hstack([eye_array(len(free), dtype=np.int64), csr_array(-_narrow(block).T)])
    else:
        moved = csr_array(np.column_stack([_narrow(inner), -_narrow(inner @ block.T)]))
    back = np.argsort(np.concatenate([free, pivot_columns]))
    return IntegerSolutions(_narrow(point), csr_array(moved.tocsc()[:, back]))


def _unit_pivot(
    work: NDArray[Any], left: NDArray[np.bool_], filled: NDArray[np.int64]
) -> tuple[int, int] | None:
    """An entry ±1 in the shortest row that has one; among its columns the one with the fewest entries."""
    places = np.flatnonzero(left)
    for row in places[np.argsort(filled[places], kind="stable")]:
        units = np.flatnonzero(np.abs(work[row]) == 1)
        if len(units):
            return int(row), int(units[np.argmin((work[:, units] != 0).sum(axis=0))])
    return None


def _by_columns(matrix: NDArray[Any], totals: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """A solution and the moves, by Hermite reduction of the columns in Python's whole numbers; for few rows."""
    rows, columns = matrix.shape
    work = [[int(v) for v in matrix[:, c]] + [0] * columns for c in range(columns)]
    for c in range(columns):
        work[c][rows + c] = 1
    target = [int(v) for v in totals]
    point = [0] * columns
    begin = 0
    for row in range(rows):
        while True:
            active = [c for c in range(begin, columns) if work[c][row]]
            if len(active) <= 1:
                break
            least = min(active, key=lambda c: abs(work[c][row]))
            for c in active:
                if c != least:
                    times = work[c][row] // work[least][row]
                    work[c] = [a - times * b for a, b in zip(work[c], work[least], strict=True)]
        missing = target[row]
        if active:
            work[begin], work[active[0]] = work[active[0]], work[begin]
            if missing % work[begin][row]:
                return None
            times = missing // work[begin][row]
            target = [t - times * work[begin][r] for r, t in enumerate(target)]
            point = [p + times * work[begin][rows + i] for i, p in enumerate(point)]
            begin += 1
        elif missing:
            return None
    moves = [column[rows:] for column in work[begin:]]
    return np.array(point, dtype=object), np.array(moves, dtype=object).reshape(len(moves), columns)


def _narrow(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """In 64 bits; OverflowError (Python's own) if a number does not fit."""
    return numbers.astype(np.int64)
