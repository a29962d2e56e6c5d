"""Finds an order of atoms in which every known sum is a contiguous run, as sums over ranges of one key are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# An eigenvector of a dense matrix: a tenth of a second at this size.
_MOST_FOR_SPECTRUM = 600


def range_order(
    matrix: Any, ranks: Sequence[NDArray[np.int64]] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """An order of the columns in which the ones of each row are contiguous, and each row's first and past-last place.

    ``matrix`` is a scipy CSR array of 0 and 1 without empty rows, ``ranks`` candidate orders, each the rank of every
    column. Tried after them: the order of the columns as they are, by the largest rows (finds nested sets), and the
    spectral order. None if no tried order fits; another one may.

    >>> from scipy import sparse
    >>> order, first, past = range_order(sparse.csr_array([[1, 0, 1], [0, 1, 1]]))
    >>> order.tolist(), first.tolist(), past.tolist()
    ([0, 2, 1], [0, 1], [2, 3])
    """
    for order in _candidates(matrix, ranks):
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        places = place[matrix.indices]
        first = np.minimum.reduceat(places, matrix.indptr[:-1])
        past = np.maximum.reduceat(places, matrix.indptr[:-1]) + 1
        if np.array_equal(past - first, np.diff(matrix.indptr)):
            return order, first, past
    return None


def _candidates(matrix: Any, ranks: Sequence[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    columns = matrix.shape[1]
    for rank in ranks:
        yield np.argsort(rank, kind="stable")
    yield np.arange(columns)
    if matrix.shape[0] * columns > 4_000_000:
        return
    dense = matrix.toarray()
    largest_last = np.argsort(dense.sum(axis=1), kind="stable")
    yield np.lexsort(dense[largest_last])
    if 2 < columns <= _MOST_FOR_SPECTRUM:
        # Columns of a matrix with the consecutive-ones property are in order along the Fiedler vector of the graph
        # whose weights count common rows (Atkins, Boman and Hendrickson 1998), unless the vector has ties.
        common = (dense.T @ dense).astype(np.float64)
        laplacian = np.diag(common.sum(axis=1)) - common
        yield np.argsort(np.linalg.eigh(laplacian)[1][:, 1], kind="stable")
