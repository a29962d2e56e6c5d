"""Can a model tell released records from original ones? The pMSE ratio.

A logistic regression on all columns predicts whether a record of the stacked tables is a released one. With c the
share of released records and p̂ the predictions, ``pMSE = mean (p̂ − c)²``. Divided by what it is on average if the
release were a fresh draw from the same population, ``(k − 1)·(1 − c)²·c / N`` with k parameters and N records, it is
about 1 for a redraw; 0 for the original itself.

Source: J. Snoke, G. M. Raab, B. Nowok, C. Dibben and A. Slavković, *General and specific utility measures for
synthetic data* (JRSS A 181, 2018).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.differences import spread
from equivoc.information_loss.shown_table import ShownColumn, ShownTable

Floats = NDArray[np.float64]
MOST_CATEGORIES = 12
"""Of each column, so many frequent categories have an effect of their own."""


def pmse_ratio(original: ShownTable, released: ShownTable) -> float:
    """The ratio of the pMSE to that of a redraw; 0 or more."""
    from sklearn.linear_model import LogisticRegression

    features = [_features(column, released[name], original) for name, column in original.columns.items()]
    stacked = np.vstack(
        [np.hstack([own for own, _ in features]), np.hstack([there for _, there in features])]
    )
    is_released = np.repeat([0, 1], [len(original), len(released)])
    weights = np.concatenate([original.weights, released.weights])
    model = LogisticRegression(C=1e6, max_iter=500).fit(stacked, is_released, sample_weight=weights)
    predicted = model.predict_proba(stacked)[:, 1]
    total = weights.sum()
    share = released.weights.sum() / total
    found = float(weights @ (predicted - share) ** 2) / total
    varying = int((stacked.std(axis=0) > 0).sum())
    expected = varying * (1 - share) ** 2 * share / total
    return found / expected if expected > 0 and found > 1e-12 else 0.0


def _features(own: ShownColumn, there: ShownColumn, original: ShownTable) -> tuple[Floats, Floats]:
    """Numbers in standard deviations; categories as shares of the frequent ones."""
    if own.numeric:
        sd, mean = spread(own, original.weights), float(own.means.mean())
        return tuple(((each.means - mean) / sd)[:, None] for each in (own, there))  # type: ignore[return-value]
    places, counts = np.unique(own.at[own.codes], return_counts=True)
    frequent = places[np.argsort(-counts, kind="stable")][1 : MOST_CATEGORIES + 1]
    return tuple(  # type: ignore[return-value]
        np.column_stack([each.inside(each.at == place) for place in frequent] or [np.zeros(len(each.codes))])
        for each in (own, there)
    )
