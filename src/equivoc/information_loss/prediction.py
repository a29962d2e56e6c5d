"""The loss of a model trained on the release and tested on people held out, beside one trained on the original.

It predicts the confidential attribute from the keys. A seeded 30 % of the people are held out; the release's own model
does not see the records of these people where it is known which they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.differences import spread
from equivoc.information_loss.shown_table import ShownTable

Floats = NDArray[np.float64]
HELD_OUT = 0.3
TREES = 50


def prediction_loss(original: ShownTable, released: ShownTable, *, confidential: str, seed: int) -> float:
    """How much worse the release's model is: root mean square error in standard deviations, or share of wrong classes.

    0 if it is no worse.
    """
    held_out = np.random.default_rng(seed).random(len(original)) < HELD_OUT
    train = np.flatnonzero(~held_out)
    shown = np.arange(len(released))
    if released.origins is not None:
        shown = np.flatnonzero(~held_out[released.origins])
    if not len(train) or not len(shown) or not held_out.any():
        return 0.0
    test = np.flatnonzero(held_out)
    errors = [
        _error(table, rows, original, test, confidential, seed)
        for table, rows in ((original, train), (released, shown))
    ]
    return max(0.0, errors[1] - errors[0])


def _error(
    table: ShownTable,
    rows: NDArray[np.int64],
    original: ShownTable,
    test: NDArray[np.int64],
    name: str,
    seed: int,
) -> float:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    keys = [key for key in original.columns if key != name]
    if not keys:
        return 0.0
    features, known = (
        np.column_stack([each[key].means for key in keys])[chosen]
        for each, chosen in ((table, rows), (original, test))
    )
    target, true = table[name].means[rows], original[name].means[test]
    options = {"n_estimators": TREES, "min_samples_leaf": 5, "random_state": seed, "n_jobs": 1}
    weights = table.weights[rows]
    if original[name].numeric:
        model = RandomForestRegressor(**options).fit(features, target, sample_weight=weights)
        error = np.sqrt(np.mean((model.predict(known) - true) ** 2))
        return float(error) / spread(original[name], original.weights)
    model = RandomForestClassifier(**options).fit(features, np.rint(target), sample_weight=weights)
    return float(np.mean(model.predict(known) != true))
