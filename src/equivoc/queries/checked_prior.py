"""Checks a prior over the domain of the confidential attribute."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError


def checked_prior(prior: ArrayLike, count: int) -> NDArray[np.float64]:
    """Probabilities over the domain; InputError if they are not."""
    belief = np.asarray(prior, dtype=np.float64)
    if belief.shape != (count,):
        raise InputError(
            f"prior has shape {belief.shape}; it needs one probability for each of the {count} values."
        )
    bad = np.flatnonzero(~(np.isfinite(belief) & (belief >= 0)))
    if len(bad):
        raise InputError(f"prior[{bad[0]}] is {belief[bad[0]]}; a probability is finite and not negative.")
    if abs(belief.sum() - 1.0) > 1e-9:
        raise InputError(f"prior sums to {belief.sum():.12g}; probabilities must sum to 1.")
    return belief
