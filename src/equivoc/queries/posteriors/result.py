"""The posterior of a person of each atom, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Method = Literal[
    "prior",
    "convolution",
    "enumeration",
    "dynamic programming",
    "counting",
    "Gibbs sampling",
    "Gibbs sampling, rough",
    "bounds",
]
COUNTED: tuple[Method, ...] = ("convolution", "enumeration", "dynamic programming", "Gibbs sampling")
"""The methods that are tried, in this order."""


@dataclass(frozen=True, eq=False)
class AtomPosteriors:
    """P(a person of the atom has the value | all answers), one row per atom.

    People of one atom have the same posterior. The rows are those of ``system.atoms``, the columns those of
    ``system.grid.positions``.
    """

    probabilities: NDArray[np.float64] = field(repr=False)
    """Atoms × |D|. Each row sums to 1."""
    method: tuple[Method, ...] = field(repr=False)
    """How each atom's row was found. "prior": the atom is in no answer. "bounds": nothing fitted the work limit, and
    the row is the prior on the values that bounds leave. "Gibbs sampling, rough": the chains do not agree, and the row
    is that of the chain that leaves the least uncertainty."""
    error: NDArray[np.float64] = field(repr=False)
    """The standard error of each atom's largest probability: 0 if exact, estimated if sampled, NaN for "bounds",
    for "Gibbs sampling, rough", and where ``left_out``."""
    promised: NDArray[np.bool_] = field(repr=False)
    """True: the error is proved to be one (exact methods; sampling whose moves reach every database that fits).
    False: checked by several chains from different starts only."""
    left_out: NDArray[np.bool_] = field(repr=False)
    """True: a MEDIAN or variance of people linked with the atom's is left out, so that the row may show more
    uncertainty than there is."""
    notes: tuple[str, ...] = ()
    """What these figures leave out, in sentences."""
