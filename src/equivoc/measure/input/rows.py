"""Many posteriors as one flat array of weights: the form that the kernels read, for dense and sparse rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.measure.input.arguments import Floats, numbers
from equivoc.measure.input.distribution import SUM_TOLERANCE, check_spread

Ints = NDArray[np.int64]

LARGEST_COUNT = 2.0**53
"""Whole numbers up to here are exact as floats."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Weights of row r: ``weights[bounds[r]:bounds[r+1]]``, at the grid ``positions`` of the same range.

    Without positions the rows are dense. A row's probabilities are its weights divided by its ``total``, which is 1
    unless the weights are counts.
    """

    weights: Floats
    positions: NDArray[np.int32]
    bounds: Ints
    totals: Floats
    width: int

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def dense(self) -> bool:
        return len(self.positions) == 0

    @property
    def longest(self) -> int:
        return int(np.diff(self.bounds).max())

    def matrix(self) -> Floats:
        """The weights as a table; only for dense rows."""
        return self.weights.reshape(len(self), self.width)


def read_grid_and_rows(values: ArrayLike, matrix: Any, *, counts: bool) -> tuple[Floats, Rows]:
    """Check values and matrix; sort the grid, merge equal values. Raises InputError with row and column."""
    grid = numbers("values", values)
    if len(grid) == 0:
        raise InputError("values is empty; give the values that the matrix's columns stand for.")
    check_spread(np.sort(grid))
    sparse = hasattr(matrix, "tocsr")
    if not sparse:
        matrix = _table(matrix)
    if matrix.ndim != 2 or matrix.shape[1] != len(grid):
        raise InputError(
            f"matrix has shape {matrix.shape} but values has {len(grid)} entries; give one column per value."
        )
    if matrix.shape[0] == 0:
        raise InputError("matrix has no rows; give one row per posterior.")
    if sparse:
        csr = matrix.tocsr(copy=False)
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        weights, positions = csr.data, csr.indices.astype(np.int32, copy=False)
        bounds = csr.indptr.astype(np.int64, copy=False)
        if len(positions) == 0:
            raise InputError("matrix row 0 is all zero; each row must contain some probability.")
    else:
        weights, positions = matrix.reshape(-1), np.empty(0, np.int32)
        bounds = np.arange(matrix.shape[0] + 1, dtype=np.int64) * matrix.shape[1]
    weights = _checked_weights(weights, positions, bounds, counts=counts)
    if not np.all(grid[1:] > grid[:-1]):
        grid, weights, positions, bounds = _on_ascending_grid(grid, weights, positions, bounds)
    sums = _row_sums(weights, bounds)
    if counts:
        if not sums.all():
            raise InputError(f"matrix row {int(np.argmin(sums))} has only zero counts; leave out such rows.")
        totals = sums
    else:
        off = np.abs(sums - 1.0) > SUM_TOLERANCE
        if off.any():
            r = int(np.argmax(off))
            raise InputError(
                f"matrix row {r} sums to {sums[r]:.12g}, not to 1 (within {SUM_TOLERANCE:g}); "
                "pass counts=True if the rows are counts."
            )
        totals = np.ones(len(sums))
    return grid, Rows(weights, positions, bounds, totals, len(grid))


def _table(given: Any) -> NDArray[Any]:
    try:
        table = np.asarray(given)
    except ValueError:
        raise InputError("matrix is ragged; every row needs one entry per value.") from None
    if table.dtype.kind in "SU":  # NumPy turned numbers beside text into text; go back to the given items
        table = np.asarray(given, dtype=object)
    if table.ndim != 2:
        return table
    if table.dtype.kind == "O":
        return np.stack([numbers(f"matrix[{r}]", row) for r, row in enumerate(table)])
    if table.dtype.kind not in "fiu" and table.size:
        first = table.reshape(-1)[0]
        raise InputError(f"matrix row 0, column 0 is {first}, not a number.")
    return np.ascontiguousarray(table)


def _on_ascending_grid(
    grid: Floats, weights: Floats, positions: NDArray[np.int32], bounds: Ints
) -> tuple[Floats, Floats, NDArray[np.int32], Ints]:
    """Columns reordered so that the grid ascends, those of equal values added up."""
    ascending, place = np.unique(grid, return_inverse=True)
    if len(positions):
        from scipy.sparse import csr_array

        csr = csr_array((weights, place[positions], bounds), shape=(len(bounds) - 1, len(ascending)))
        csr.sum_duplicates()
        return ascending, csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int64)
    order = np.argsort(place, kind="stable")
    matrix = weights.reshape(-1, len(grid))[:, order]
    begins = np.flatnonzero(np.concatenate(([True], np.diff(place[order]) != 0)))
    matrix = np.add.reduceat(matrix, begins, axis=1)
    bounds = np.arange(len(matrix) + 1, dtype=np.int64) * len(ascending)
    return ascending, matrix.reshape(-1), positions, bounds


def _checked_weights(weights: NDArray[Any], positions: NDArray[Any], bounds: Ints, *, counts: bool) -> Floats:
    """The weights as doubles (whole counts below 2^53 are exact), or InputError about one of them."""

    def where(t: int) -> str:
        row = int(np.searchsorted(bounds, t, side="right")) - 1
        column = int(positions[t]) if len(positions) else t - int(bounds[row])
        return f"matrix row {row}, column {column} is {weights[t]:g}"

    if weights.dtype.kind not in "fiu":
        raise InputError(f"matrix holds {weights.dtype} entries, not numbers.")
    if counts:
        if weights.dtype.kind == "f" or weights.max() >= LARGEST_COUNT:
            fit = (weights == np.floor(weights)) & (weights < LARGEST_COUNT)
            if not fit.all():
                raise InputError(f"{where(int(np.argmin(fit)))}; counts must be whole numbers below 2^53.")
        if weights.min() < 0:
            raise InputError(f"{where(int(np.argmin(weights)))}; counts must be 0 or more.")
        return weights.astype(np.float64, copy=False)
    weights = weights.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        low, total = weights.min(), weights.sum()
    if not (np.isfinite(total) and low >= 0):
        if not np.isfinite(weights).all():
            raise InputError(
                f"{where(int(np.argmin(np.isfinite(weights))))}; only finite numbers can be used."
            )
        if low < 0:
            raise InputError(f"{where(int(np.argmin(weights)))}; probabilities must be 0 or more.")
    return weights


def _row_sums(weights: Floats, bounds: Ints) -> Floats:
    sums = np.zeros(len(bounds) - 1)
    filled = bounds[1:] > bounds[:-1]
    with np.errstate(over="ignore"):
        sums[filled] = np.add.reduceat(weights, bounds[:-1][filled])
    return sums
