"""Random forests for many numeric targets at once, such as the probabilities of all values.

Each tree is fitted to a bootstrap sample of the records, and at each node considers a third of the features, at least
one. A cut minimises the sum of squared errors over all targets. Features with more than 256 different values are cut
into as many groups of about the same size.

Cost: for 2,000 records, six features, 46 targets and leaves of 30 about 0.9 ms per tree. scikit-learn's
`RandomForestRegressor`, which does the same, took 4 ms in the same run.

Source: L. Breiman, *Random forests* (Machine Learning 45, 2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
GROUPS = 256


def out_of_sample(
    features: npt.NDArray[Any],
    targets: Floats,
    others: npt.NDArray[Any],
    *,
    leaf: int,
    seed: int,
    trees: int,
) -> Floats:
    """Predictions for other records by a forest fitted to the targets (records, or records × numbers).

    ``features``: records × numbers; ``leaf``: the least number of records in a leaf. The same seed gives the same
    forest.
    """
    from equivoc.intruder.beliefs import forest_kernels as kernels

    wanted = targets.reshape(len(targets), -1)
    # Columns of zeros up to a multiple of 16 (for more than a few targets): loops over a row then have no remainder.
    table = np.zeros(
        (len(targets), -(-wanted.shape[1] // 16) * 16 if wanted.shape[1] > 4 else wanted.shape[1])
    )
    table[:, : wanted.shape[1]] = wanted
    both = np.stack([_coded(column) for column in np.concatenate([features, others]).T])
    codes, asked = (
        np.ascontiguousarray(both[:, : len(features)]),
        np.ascontiguousarray(both[:, len(features) :]),
    )
    rng = np.random.default_rng(seed)
    squares = np.einsum("rd,rd->r", table, table)
    room = 2 * (len(features) // leaf) + 1
    feature, cut, child = (np.zeros(room, dtype=np.int64) for _ in range(3))
    value = np.empty((room, table.shape[1]))
    found = np.zeros((len(others), table.shape[1]))
    for _ in range(trees):
        weights = np.bincount(rng.integers(len(features), size=len(features)), minlength=len(features))
        order = np.argsort(rng.random((room, len(codes))), axis=1)
        kernels.grow(
            codes,
            int(both.max(initial=0)) + 1,
            table,
            squares,
            weights.astype(np.float64),
            order,
            leaf,
            max(1, len(codes) // 3),
            feature,
            cut,
            child,
            value,
        )
        kernels.predict(asked, feature, cut, child, value, found)
    return (found[:, : wanted.shape[1]] / trees).reshape(len(others), *targets.shape[1:])


def _coded(column: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Whole numbers from 0 on, in the order of the feature's values."""
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > GROUPS:
        cuts = np.unique(np.quantile(column, np.arange(1, GROUPS) / GROUPS))
        codes = np.searchsorted(cuts, column, side="left")
    return codes.ravel().astype(np.int32)
