"""Systems of known sums of bounded unknowns; bound propagation without a solver."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

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

    def part(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> "SumSystem":
        """The system of some sums and unknowns; the sums must have no other unknowns."""
        return SumSystem(
            self.matrix[rows][:, columns],
            self.sums[rows],
            self.low[columns],
            self.high[columns],
            self.rounding,
        )


class ImpossibleSumsError(InputError):
    """No values within the bounds have the given sums."""


def contradiction() -> ImpossibleSumsError:
    """The error for contradictory sums."""
    return ImpossibleSumsError(
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
