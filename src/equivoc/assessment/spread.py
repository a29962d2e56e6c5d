"""Summary statistics of a figure: over classes, over people, over random releases."""

from __future__ import annotations

from collections.abc import Sequence

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


def over_releases(figures: Sequence[float]) -> dict[str, float]:
    """Mean, standard deviation, least, greatest and Student's 95 % interval of the mean: mean ± t · sd / √r.

    >>> {name: round(each, 3) for name, each in over_releases([1.0, 2.0, 3.0]).items()}
    {'mean': 2.0, 'sd': 1.0, 'min': 1.0, 'max': 3.0, 'low': -0.484, 'high': 4.484}
    """
    many, least, most = len(figures), float(min(figures)), float(max(figures))
    if least == most:  # the mean of equal figures is that figure, without rounding errors
        return {"mean": least, "sd": 0.0, "min": least, "max": least, "low": least, "high": least}
    from scipy.special import stdtrit

    mean, sd = float(np.mean(figures)), float(np.std(figures, ddof=1))
    reach = float(stdtrit(many - 1, 0.975)) * sd / many**0.5
    return {"mean": mean, "sd": sd, "min": least, "max": most, "low": mean - reach, "high": mean + reach}
