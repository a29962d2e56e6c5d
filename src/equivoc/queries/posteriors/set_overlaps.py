"""Which sets of atoms share members, and which sets are linked by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_DENSE_ENTRIES = 3e7


def membership(sets: Sequence[NDArray[np.int64]], atoms: int) -> Any:
    """A scipy CSR array of 0 and 1, sets × atoms."""
    from scipy.sparse import csr_array

    columns = np.concatenate([np.empty(0, dtype=np.int64), *sets])
    start = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
    return csr_array((np.ones(len(columns), dtype=np.int64), columns, start), shape=(len(sets), atoms))


def overlaps(
    sets: Sequence[NDArray[np.int64]], atoms: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of sets that share atoms (both orders, and each set with itself), and how many they share.

    >>> [part.tolist() for part in overlaps([np.array([0, 1]), np.array([1])], 2)]
    [[0, 0, 1, 1], [0, 1, 0, 1], [2, 1, 1, 1]]
    """
    from scipy.sparse import csr_array

    matrix = membership(sets, atoms)
    if max(len(sets), atoms) * len(sets) <= _MOST_DENSE_ENTRIES:
        # Counts below 2^24 are exact in float32.
        dense = matrix.toarray().astype(np.float32)
        table = dense @ dense.T
        one, other = np.nonzero(table)
        return one, other, np.rint(table[one, other]).astype(np.int64)
    shared = csr_array(matrix @ matrix.T).tocoo()
    return shared.row.astype(np.int64), shared.col.astype(np.int64), shared.data


def linked(sets: Sequence[NDArray[np.int64]], atoms: int) -> NDArray[np.int64]:
    """A number for each atom; atoms that sets link, directly or through others, have the same."""
    from scipy.sparse import block_array
    from scipy.sparse.csgraph import connected_components

    matrix = membership(sets, atoms)
    _, label = connected_components(block_array([[None, matrix], [matrix.T, None]]), directed=False)
    return np.asarray(label[len(sets) :], dtype=np.int64)
