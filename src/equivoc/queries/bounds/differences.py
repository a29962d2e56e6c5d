"""Differences of two known sums: bounds that propagation from single sums does not see.

For query sets A and B, ``Σ over A∖B − Σ over B∖A`` is known. Where A and B differ in few people, it narrows bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.sum_systems import contradiction

_MOST_ROUNDS = 5
# Pairs that can narrow something are few, unless values crowd at one end of the domain; the sharpest ones are used.
_MOST_PAIRS = 20_000


def difference_bounds(
    matrix: Any, totals: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bounds of each unknown of ``matrix @ s = totals`` from all pairs of rows, until nothing changes.

    >>> from scipy import sparse
    >>> nested = sparse.csr_array([[1, 1, 1, 0], [0, 1, 1, 1]])
    >>> low, high = difference_bounds(nested, np.array([12, 3]), np.zeros(4, int), np.full(4, 10))
    >>> low.tolist(), high.tolist()
    ([9, 0, 0, 0], [10, 10, 10, 1])
    """
    inside = matrix.toarray().astype(bool)
    for _ in range(_MOST_ROUNDS):
        spare = spare_of_pairs(matrix, totals, low, high)
        if np.any(spare > 0):
            raise contradiction()
        first, second = np.nonzero(spare > -np.max(high - low, initial=0))
        sharpest = np.argsort(-spare[first, second], kind="stable")[:_MOST_PAIRS]
        new_low, new_high = low.copy(), high.copy()
        for a, b in zip(first[sharpest].tolist(), second[sharpest].tolist(), strict=True):
            only_a = np.flatnonzero(inside[a] & ~inside[b])
            only_b = np.flatnonzero(inside[b] & ~inside[a])
            new_low[only_a] = np.maximum(new_low[only_a], high[only_a] + spare[a, b])
            new_high[only_b] = np.minimum(new_high[only_b], low[only_b] - spare[a, b])
        if np.any(new_low > new_high):
            raise contradiction()
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
    return low, high


def spare_of_pairs(
    matrix: Any, totals: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For rows A and B: their known difference, less the most of A∖B, plus the least of B∖A.

    Above 0, the two rows contradict each other. If it is 0 or less for (A, B) and (B, A), and each row alone is
    possible, some whole numbers within the bounds fit both.
    """
    most, least = _common_sums(matrix, high), _common_sums(matrix, low)
    spare = (totals - np.diag(most))[:, None] - (totals - np.diag(least))[None, :] + most - least
    np.fill_diagonal(spare, np.iinfo(np.int64).min // 2)
    return np.asarray(spare)


def _common_sums(matrix: Any, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of ``numbers`` over the unknowns that two rows share, for every pair of rows."""
    weighted = matrix.copy()
    weighted.data = numbers[matrix.indices]
    return np.asarray((weighted @ matrix.T).toarray())
