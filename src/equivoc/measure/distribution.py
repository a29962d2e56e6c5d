"""A checked posterior: distinct ascending values with positive probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError

# Checks of the measure's arguments: flat lists of numbers, tolerances ε, relative gaps.

Floats = NDArray[np.float64]


def numbers(name: str, given: ArrayLike) -> Floats:
    """A one-dimensional float64 array of finite numbers, or InputError about the argument ``name``."""
    found = floats(name, given)
    check_finite(name, found)
    return found


def floats(name: str, given: ArrayLike) -> Floats:
    """A one-dimensional float64 array, or InputError about the argument ``name``."""
    try:
        array: NDArray[Any] = np.asarray(given)
    except ValueError:
        raise InputError(f"{name} is ragged; give a flat list of numbers.") from None
    if array.ndim != 1:
        raise InputError(
            f"{name} has {array.ndim} dimensions (shape {array.shape}); give a flat, one-dimensional list."
        )
    if array.dtype.kind in "SU":  # NumPy turned numbers beside text into text; go back to the given items
        array = np.asarray(given, dtype=object)
    if array.dtype.kind not in "fiu" and len(array):
        array = _from_objects(name, array)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array, dtype=np.float64)


def check_finite(name: str, given: Floats) -> None:
    """InputError about the first number that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(given.sum())
    # A finite sum proves that every entry is finite, at a third of the cost of testing each.
    if not isfinite(total) and not np.isfinite(given).all():
        i = int(np.argmin(np.isfinite(given)))
        raise InputError(f"{name}[{i}] is {given[i]}; only finite numbers can be used.")


def _from_objects(name: str, array: NDArray[Any]) -> Floats:
    """Numbers kept as objects (decimals, fractions, mixed ints); text, dates and Booleans are rejected."""
    if array.dtype.kind != "O":
        raise InputError(f"{name}[0] is {array[0]}, not a number.")
    found = np.empty(len(array))
    for i, item in enumerate(array.tolist()):
        if isinstance(item, (str, bytes, bool, np.bool_)):
            raise InputError(f"{name}[{i}] is {item!r}, not a number.")
        try:
            found[i] = float(item)
        except (TypeError, ValueError):
            raise InputError(f"{name}[{i}] is {item!r}, not a number.") from None
        except OverflowError:
            raise InputError(f"{name}[{i}] is {item}, too large for double precision.") from None
    return found


def tolerances(name: str, given: ArrayLike) -> Floats:
    """Tolerances ε as a flat float64 array of numbers ≥ 0, or InputError about the argument ``name``."""
    try:
        eps = numbers(name, np.atleast_1d(given))
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{name} is ragged; give a number or a flat list of numbers.") from None
    if len(eps) and eps.min() < 0:
        i = int(np.argmax(eps < 0))
        raise InputError(f"{name}[{i}] is {eps[i]:g}; a tolerance ε must be 0 or more.")
    return eps


def one_tolerance(name: str, given: ArrayLike) -> float:
    """A single tolerance ε ≥ 0, or InputError about the argument ``name``."""
    eps = tolerances(name, given)
    if len(eps) != 1:
        raise InputError(f"{name} holds {len(eps)} tolerances; give one.")
    return float(eps[0])


def check_relative_gap(given: Any, *, exact_allowed: bool, name: str = "tolerance") -> float:
    """A relative gap of the area's bounds, below 1; 0 only if an exact area is possible."""
    gap = numbers(name, np.atleast_1d(given))
    if len(gap) != 1 or not (0.0 < gap[0] < 1.0 or (exact_allowed and gap[0] == 0.0)):
        least = "from 0 (exact)" if exact_allowed else "above 0, such as 1e-3,"
        raise InputError(f"{name} is {given}; give a relative gap {least} up to, not including, 1.")
    return float(gap[0])


NATS_PER_BIT = log(2.0)

SUM_TOLERANCE = 1e-9
"""How far the sum of the probabilities may be from 1."""

LARGEST_SPREAD = 1e300

TIE_ROUNDING = 2.0**-50
TIE_SHARE = 2.0**-20
"""A window of length ε also covers a difference that exceeds ε by rounding: by at most 4 units in the last place
of the largest absolute value of the posterior, and at most a millionth of ε."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Candidate values that have positive probability, ascending and distinct, with their probabilities."""

    values: Floats
    probabilities: Floats

    @property
    def spread(self) -> float:
        """Largest less smallest value of positive probability: ε_max, in the attribute's unit."""
        return float(self.values[-1] - self.values[0])

    @property
    def rounding(self) -> float:
        """The largest rounding error of a difference of two values (see TIE_ROUNDING)."""
        return TIE_ROUNDING * max(abs(float(self.values[0])), abs(float(self.values[-1])))

    @property
    def cumulative(self) -> Floats:
        """P_0 = 0, P_1, …, P_n: the running sums of the probabilities."""
        return np.concatenate(([0.0], np.cumsum(self.probabilities)))

    @property
    def shannon(self) -> float:
        """The Shannon entropy, in bits: H(0), computed from the probabilities, not from their cumulative sums."""
        if len(self.values) == 1:  # its probability is 1 up to rounding
            return 0.0
        # A sum of products: the last bits of a dot product depend on the number of BLAS threads.
        return max(-float((self.probabilities * np.log2(self.probabilities)).sum()), 0.0)

    @classmethod
    def of(cls, values: ArrayLike, probabilities: ArrayLike) -> Distribution:
        """Check the two arrays, sort by value, merge equal values, leave out probability 0.

        Raises InputError, naming the argument, the position and the offending value.
        """
        x, p = floats("values", values), floats("probabilities", probabilities)
        if len(x) != len(p):
            raise InputError(f"values has {len(x)} entries but probabilities has {len(p)}; give one each.")
        if len(x) == 0:
            raise InputError("values is empty; give at least one value with its probability.")
        _check_probabilities(p)
        check_finite("values", x)
        if not np.all(x[1:] > x[:-1]):
            order = np.argsort(x)
            x, p = x[order], p[order]
        if p.min() == 0.0:
            x, p = x[p > 0], p[p > 0]
        x, p = _merged(x, p)
        check_spread(x)
        return cls(x, p)


def _check_probabilities(p: Floats) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(p.sum())
    if not isfinite(total):
        check_finite("probabilities", p)
    if p.min() < 0:
        i = int(np.argmax(p < 0))
        raise InputError(f"probabilities[{i}] is {p[i]:g}; probabilities must be 0 or more.")
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"probabilities sum to {total:.12g}, not to 1 (within {SUM_TOLERANCE:g}); "
            "divide them by their sum if they are weights."
        )


def check_spread(ascending: Floats) -> None:
    """InputError if differences, or an area, would exceed the range of double precision."""
    low, high = float(ascending[0]), float(ascending[-1])
    if high - low > LARGEST_SPREAD:
        raise InputError(
            f"values reach from {low:g} to {high:g}; a spread above {LARGEST_SPREAD:g} cannot be measured."
        )


def _merged(x: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Ascending values and their probabilities, each value once with the sum of its probabilities."""
    rises = x[1:] > x[:-1]
    if rises.all():
        return x, p
    first = np.flatnonzero(np.concatenate(([True], rises)))
    return x[first], np.add.reduceat(p, first)


# Many posteriors as one flat array of weights: the form that the kernels read, for dense and sparse rows.

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
