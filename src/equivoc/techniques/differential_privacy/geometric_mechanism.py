"""Two-sided geometric noise: from OpenDP for publication, simulated from a seed for measurement.

P(noise = k) = (1 − α)/(1 + α) · α^|k| with α = exp(−1/scale), k any whole number (Ghosh, Roughgarden and Sundararajan,
2009; OpenDP calls it the discrete Laplace). Noise of scale sensitivity/ε makes a whole number ε-differentially private.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import is_number
from equivoc.errors import InputError
from equivoc.techniques.technique import Randomness, generator

LARGEST = 2**62
"""Noise is cut off here, far beyond any count."""
AT_A_TIME = 2**20
"""Numbers passed to OpenDP at once."""


def check_epsilon(technique: str, epsilon: float) -> None:
    """InputError unless ε is a finite number above 0."""
    if not (is_number(epsilon) and np.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"{technique}: epsilon is {epsilon!r}; it must be a finite number above 0.")


def with_noise(numbers: NDArray[np.int64], *, scale: float, rng: Randomness) -> NDArray[np.int64]:
    """Each number plus noise of its own.

    ``rng=None`` draws from OpenDP, with cryptographic randomness that cannot be repeated: use it for publication. A
    seed or a Generator simulates the same distribution, for measuring only: anyone who knows the seed can remove the
    noise, so never publish such a release.

    >>> with_noise(np.array([3, 5]), scale=1e-9, rng=0)
    array([3, 5])
    """
    return (
        _trusted(numbers, scale) if rng is None else numbers + _simulated(len(numbers), scale, generator(rng))
    )


def _simulated(size: int, scale: float, random: np.random.Generator) -> NDArray[np.int64]:
    """The difference of two geometric numbers, each an exponential one rounded down: P(⌊scale·E⌋ ≥ k) = α^k."""
    up, down = np.minimum(np.floor(scale * random.standard_exponential((2, size))), LARGEST).astype(np.int64)
    return np.asarray(up - down)


def _trusted(numbers: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=scale)
    parts = [mechanism(numbers[at : at + AT_A_TIME].tolist()) for at in range(0, len(numbers), AT_A_TIME)]
    return np.asarray(np.clip(np.concatenate(parts), -LARGEST, LARGEST), dtype=np.int64)


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InputError(
            "differentially private noise that may be published comes from OpenDP, which is not installed: "
            "pip install equivoc[dp] (to measure only, give a seed)."
        ) from None
    dp.enable_features("contrib")  # OpenDP: "reviewed, proof not yet vetted"; all mechanisms need it
    return dp
