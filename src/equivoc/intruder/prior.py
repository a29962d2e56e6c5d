"""What is publicly known of the confidential attribute without the release: a probability for each of its values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.measure.input.arguments import numbers
from equivoc.measure.input.distribution import SUM_TOLERANCE

Floats = NDArray[np.float64]
Prior = str | ArrayLike
"""A prior as a caller gives it: "marginal", "uniform", or a probability for each value."""
LEAST = 1e-12
"""A value that somebody has counts as possible, with at least this probability, even if the prior rules it out."""


def prior_probabilities(prior: Prior, people: Microdata) -> Floats:
    """One probability for each value of the domain; InputError says what is wrong with it."""
    values = len(people.attribute)
    if isinstance(prior, str) and prior == "uniform":
        return np.full(values, 1.0 / values)
    if isinstance(prior, str) and prior == "marginal":
        return marginal(people)
    if isinstance(prior, (str, bytes)) or np.ndim(prior) == 0:
        raise InputError(
            f'prior is {prior!r}; give one probability for each of the {values} values, or "marginal" or "uniform".'
        )
    given = numbers("prior", prior)
    if len(given) != values:
        raise InputError(
            f"prior has {len(given)} entries; give one probability for each of the {values} values."
        )
    if given.min() < 0:
        i = int(np.argmax(given < 0))
        raise InputError(f"prior[{i}] is {given[i]:g}; probabilities must be 0 or more.")
    if abs(float(given.sum()) - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"prior sums to {given.sum():.12g}, not to 1 (within {SUM_TOLERANCE:g}); divide it by its sum."
        )
    return given


def marginal(people: Microdata) -> Floats:
    """The distribution of the confidential attribute among the people."""
    counts = people.classes([]).counts.toarray().reshape(-1)
    return np.asarray(counts / counts.sum())
