"""Forests from scikit-learn, where it is installed: it is optional, and loaded when first used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError

Floats = npt.NDArray[np.float64]
TREES = 100


def installed() -> bool:
    """True if scikit-learn can be imported."""
    return find_spec("sklearn") is not None


def out_of_sample(
    features: npt.NDArray[Any],
    targets: Floats,
    others: npt.NDArray[Any],
    *,
    leaf: int,
    seed: int,
) -> Floats:
    """Predictions for other records by a forest fitted to the targets (records × numbers); ``leaf``: minimal leaf size.

    Each tree considers a third of the features at each split, and at least one. The same seed gives the same forest.
    """
    if not installed():
        raise InputError("A forest needs scikit-learn, which is not installed: pip install scikit-learn.")
    forest = import_module("sklearn.ensemble").RandomForestRegressor(
        TREES, min_samples_leaf=leaf, max_features=max(1, features.shape[1] // 3), random_state=seed, n_jobs=1
    )
    forest.fit(features, targets)
    return np.asarray(forest.predict(others), dtype=np.float64)
