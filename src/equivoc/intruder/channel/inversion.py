"""Bayes' rule for a table of probabilities: from P(released | true) to P(true | released)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError

Matrix = npt.NDArray[np.float64]
DENSE_CELLS = 2**25
"""A table of more cells than this stays sparse: 2^25 doubles are 256 MB."""


def channel(transition: Matrix, *, prior: npt.ArrayLike | None = None) -> Matrix:
    """P(true level | released symbol), from P(released symbol | true level): one row per symbol, one column per level.

    `channel(d | c') ∝ P(c' | d) · prior(d)`; without a prior all levels are equally likely. The prior's
    scale does not matter. A symbol that cannot occur under the prior has no posterior: its row is all
    zeros.

    >>> channel(np.array([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]]), prior=[3, 3, 0])
    array([[0.75      , 0.25      , 0.        ],
           [0.33333333, 0.66666667, 0.        ],
           [0.        , 1.        , 0.        ]])
    """
    size = transition.shape[0]
    believed = np.ones(size) if prior is None else np.asarray(prior, dtype=np.float64)
    if believed.shape != (size,):
        raise InputError(f"The prior needs {size} numbers, one per value; its shape is {believed.shape}.")
    if not (np.isfinite(believed).all() and (believed >= 0).all() and believed.any()):
        raise InputError("The prior must be finite, nowhere negative, and positive somewhere.")
    # First divided by each symbol's largest probability: far tails of wide noise then cannot underflow.
    joint = divide_rows(transition.T, transition.T.max(axis=1)) * (believed / believed.max())
    return divide_rows(joint, joint.sum(axis=1))


def sparse_channel(transition: Any) -> Any:
    """The same for a sparse table, all levels equally likely: a dense array where that is small, else CSR.

    For mechanisms with few possible symbols per level, such as rounding.

    >>> from scipy.sparse import csr_array
    >>> sparse_channel(csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])).round(3).tolist()
    [[0.667, 0.333, 0.0], [0.0, 0.333, 0.667]]
    """
    from scipy.sparse import csr_array

    joint = csr_array(transition.T)
    joint.data = joint.data / np.repeat(joint.sum(axis=1), np.diff(joint.indptr))
    return joint if joint.shape[0] * joint.shape[1] > DENSE_CELLS else joint.toarray()


def divide_rows(matrix: Matrix, by: Matrix) -> Matrix:
    """Each row divided by its own number; rows whose number is 0 become (or stay) zeros."""
    divisor = by[:, np.newaxis]
    return np.divide(matrix, divisor, out=np.zeros_like(matrix), where=divisor > 0)
