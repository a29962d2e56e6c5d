"""Summary statistics of a figure over classes or people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


def spread(figures: Floats, weights: NDArray[np.int64] | None = None) -> dict[str, float]:
    """Mean, least, greatest and quantiles; each figure counts ``weights`` times (None: once).

    A quantile is the least figure that at least that share of the weight does not exceed.

    >>> spread(np.array([1.0, 3.0]), np.array([3, 1]))["mean"], spread(np.array([1.0, 3.0]))["median"]
    (1.5, 1.0)
    """
    order = np.argsort(figures, kind="stable")
    ascending = figures[order]
    mass = np.arange(1, len(figures) + 1) if weights is None else np.cumsum(weights[order])
    places = np.searchsorted(mass, np.array(list(QUANTILES.values())) * mass[-1])
    return {
        "mean": float(np.average(figures, weights=weights)),
        "min": float(ascending[0]),
        **dict(zip(QUANTILES, ascending[places].tolist(), strict=True)),
        "max": float(ascending[-1]),
    }
