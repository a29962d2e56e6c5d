"""The largest probability and the variance of every class's posterior, in one pass over the posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PosteriorFigures:
    """One number for each class."""

    largest: Floats
    """The probability of the value that she holds most likely."""
    variance: Floats | None
    """Of the confidential value; None for categories."""


def posterior_figures(posteriors: Posteriors) -> PosteriorFigures:
    """Both figures from one computation of the posteriors, which takes most of the time for a large release."""
    numeric = posteriors.attribute.numeric
    centred = posteriors.values - posteriors.values.mean() if numeric else None
    largest = np.empty(len(posteriors))
    variance = np.empty(len(posteriors)) if numeric else None
    for block in posteriors.blocks():
        largest[block.classes] = _row_maxima(block.probabilities)[block.of]
        if variance is not None and centred is not None:
            mean, square = (np.asarray(block.probabilities @ number) for number in (centred, centred**2))
            variance[block.classes] = (square - mean**2)[block.of]
    return PosteriorFigures(np.minimum(largest, 1.0), variance)


def largest_probabilities(posteriors: Posteriors) -> Floats:
    """The probability of the most likely value, of each class."""
    if not isinstance(posteriors, Posteriors):
        raise InputError(
            f"posteriors is a {type(posteriors).__name__}; get them from a release: release.posteriors(known)."
        )
    found = np.empty(len(posteriors))
    for block in posteriors.blocks():
        found[block.classes] = _row_maxima(block.probabilities)[block.of]
    return np.minimum(found, 1.0)


def _row_maxima(probabilities: Any) -> Floats:
    """Of a dense table or a CSR array without empty rows."""
    if isinstance(probabilities, np.ndarray):
        return np.asarray(probabilities.max(axis=1))
    return np.asarray(np.maximum.reduceat(probabilities.data, probabilities.indptr[:-1]))
