"""Any set of sums over records: the least and greatest value that each record can have.

The intruder knows ``A·x = sums`` for a 0/1 matrix ``A`` (queries × records) and ``low ≤ x ≤ high``. Bounding
each record takes two linear programs, as in Alfalayleh and Brankovic (2014). Most of them need not be solved:
records that are in the same queries share one unknown, their sum; bound propagation from query to query solves
every part of the system that is a tree; and a bound attained by a known solution is final. HiGHS solves the
rest, each program from the previous solution.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.systems.grids import BEYOND_CHANCE, decimal_places
from equivoc.systems.sum_systems import (
    SumSystem,
    attained_range,
    components,
    is_forest,
    tighten,
    without_fixed,
)

# For values scaled to 0 … 1: the solver's tolerance for a sum, and the resulting error of a bound.
_FEASIBILITY = 1e-9
_ACCURACY = 10 * _FEASIBILITY


def linear_bounds(matrix: Any, sums: ArrayLike, *, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    """``[L, U]`` of every record, n × 2, in the attribute's unit, from the sums that ``matrix`` describes.

    ``matrix`` holds 0 and 1 (or False and True), one row per query and one column per record, dense or
    scipy.sparse; ``low`` and ``high`` are numbers, or one per record. A record in no query gets its own
    ``low`` and ``high``.

    If all inputs are decimals, a bound within a hundred millionth of the greatest ``high − low`` of an equally
    short decimal is set to that decimal. Any other bound is moved outwards by that amount, so that no possible
    value is excluded.

    >>> linear_bounds([[1, 1, 0], [0, 1, 1]], [190, 120], low=0, high=100)
    array([[ 90., 100.],
           [ 90., 100.],
           [ 20.,  30.]])
    """
    table = _zero_one_matrix(matrix)
    queries, records = table.shape
    totals = _vector(sums, count=queries, name="sums", per="query")
    lows = _vector(low, count=records, name="low", per="record")
    highs = _vector(high, count=records, name="high", per="record")
    crossed = np.flatnonzero(lows > highs)
    if len(crossed):
        raise InputError(
            f"low[{crossed[0]}] is {lows[crossed[0]]:g}, above high[{crossed[0]}], {highs[crossed[0]]:g}."
        )
    places = decimal_places(np.concatenate([totals, lows, highs]), headroom=4.0 * BEYOND_CHANCE)
    if places is None:
        return np.clip(
            _bounds_in_units(table, totals, lows, highs, whole=False), lows[:, None], highs[:, None]
        )
    factor = 10.0**places
    units = [np.rint(numbers * factor) for numbers in (totals, lows, highs)]
    found = _bounds_in_units(table, *units, whole=True) / factor
    return np.clip(found, lows[:, None], highs[:, None])


def _bounds_in_units(
    table: Any,
    totals: NDArray[np.float64],
    lows: NDArray[np.float64],
    highs: NDArray[np.float64],
    *,
    whole: bool,
) -> NDArray[np.float64]:
    """``[L, U]`` of every record; ``whole``: all inputs are whole numbers."""
    # A power of two scales without rounding.
    scale = 2.0 ** np.ceil(np.log2(max(float(np.max(highs - lows, initial=0.0)), np.finfo(np.float64).tiny)))
    widths = (highs - lows) / scale
    group = _records_in_the_same_queries(table)
    width_of_group = np.bincount(group, weights=widths)
    _, representative = np.unique(group, return_index=True)
    largest = float(np.max(np.abs(totals), initial=0.0) + np.max(table @ np.abs(lows), initial=0.0))
    input_rounding = 0.0 if whole else 16 * float(np.finfo(np.float64).eps) * largest / scale
    system = SumSystem(
        table[:, representative],
        (totals - table @ lows) / scale,
        np.zeros(len(representative)),
        width_of_group.astype(np.float64),
        rounding=max(_FEASIBILITY, input_rounding),
    )
    group_low, group_high = _unknown_bounds(system)
    # The other records of a group can sum to anything between 0 and the sum of their widths.
    others = width_of_group[group] - widths
    least = np.maximum(group_low[group] - others, 0.0)
    greatest = np.minimum(group_high[group], widths)
    found = lows[:, None] + scale * np.column_stack([least, greatest])
    accuracy = scale * max(_ACCURACY, 10 * input_rounding)
    widened = found + np.array([-accuracy, accuracy])
    nearest = np.rint(found) + 0.0
    settled = np.where(whole & (np.abs(nearest - found) <= accuracy), nearest, widened)
    return np.asarray(settled, dtype=np.float64)


def _unknown_bounds(system: SumSystem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and greatest value of each unknown of the system."""
    tightened, settled = tighten(system)
    low, high = tightened.low.copy(), tightened.high.copy()
    rest, unknown_of_column = without_fixed(tightened)
    for rows, columns in components(rest):
        part = rest.part(rows, columns)
        if not (settled and is_forest(part)):
            unknown = unknown_of_column[columns]
            low[unknown], high[unknown] = attained_range(part)
    return low, high


def _records_in_the_same_queries(table: Any) -> NDArray[np.int64]:
    """The group of each record, numbered from 0."""
    columns = table.tocsc()
    columns.sort_indices()
    numbers: dict[bytes, int] = {}
    ends = columns.indptr
    return np.array(
        [
            numbers.setdefault(columns.indices[ends[j] : ends[j + 1]].tobytes(), len(numbers))
            for j in range(columns.shape[1])
        ],
        dtype=np.int64,
    )


def _zero_one_matrix(matrix: Any) -> Any:
    from scipy import sparse

    if not sparse.issparse(matrix):
        try:
            matrix = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("matrix must be a rectangle of 0 and 1, one row per query.") from None
        if matrix.ndim != 2:
            raise InputError(f"matrix has {matrix.ndim} dimensions; it needs two, queries and records.")
    table = sparse.csr_array(matrix, dtype=np.float64)
    table.sum_duplicates()
    table.eliminate_zeros()
    bad = np.flatnonzero(table.data != 1.0)
    if len(bad):
        row = int(np.searchsorted(table.indptr, bad[0], side="right")) - 1
        raise InputError(
            f"matrix[{row}, {table.indices[bad[0]]}] is {table.data[bad[0]]:g}; "
            "a record is in a query (1) or not (0)."
        )
    return table


def _vector(numbers: ArrayLike, *, count: int, name: str, per: str) -> NDArray[np.float64]:
    given = np.asarray(numbers, dtype=np.float64)
    if given.ndim == 0 and per == "record":
        if not np.isfinite(given):
            raise InputError(f"{name} is {given}; it must be a finite number.")
        return np.full(count, float(given))
    if given.shape != (count,):
        raise InputError(
            f"{name} has shape {given.shape}; it needs one number for each {per}, {count} in all."
        )
    bad = np.flatnonzero(~np.isfinite(given))
    if len(bad):
        raise InputError(f"{name}[{bad[0]}] is {given[bad[0]]}; every one must be a finite number.")
    return given
