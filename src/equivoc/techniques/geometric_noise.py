"""Geometric noise: each confidential value is made differentially private before it is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Bayes
from equivoc.channels.likelihood import GeometricSteps
from equivoc.checks import held, is_finite
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.notation.declared import number
from equivoc.notation.ranges import Range
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.technique import Randomness, Technique, check_order, generator
from equivoc.text import exact

# Two-sided geometric noise: from OpenDP for publication, simulated from a seed for measurement.
#
# P(noise = k) = (1 − α)/(1 + α) · α^|k| with α = exp(−1/scale), k any whole number (Ghosh, Roughgarden and
# Sundararajan, 2009; OpenDP calls it the discrete Laplace). Noise of scale sensitivity/ε makes a whole number
# ε-differentially private.

LARGEST = 2**62
"""Noise is cut off here, far beyond any count."""
AT_A_TIME = 2**20
"""Numbers passed to OpenDP at once."""


def checked_epsilon(technique: str, epsilon: float) -> float:
    """ε as an array holds it; InputError unless it is a finite number above 0."""
    if not (is_finite(epsilon) and epsilon > 0):
        raise InputError(f"{technique}: epsilon is {epsilon!r}; it must be a finite number above 0.")
    return held(epsilon)


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


@dataclass(frozen=True)
class GeometricNoise(Technique):
    """Move each confidential value's rank in D by two-sided geometric noise of scale (|D| − 1)/ε, and clamp it to D.

    A person's value can change by at most |D| − 1 ranks: the sensitivity. So for any two values d, d' and any released
    one c, P(c | d) ≤ e^ε · P(c | d'): ε-differential privacy of each person's value, also against someone who knows
    all other values. This holds only if D was given (``domain=…``): a D taken from the
    data depends on who is in it. Clamping uses only the noisy rank and costs no privacy. Keys are published
    unchanged.

    Without ``rng`` the noise is OpenDP's, and the release may be published. With a seed or a Generator the same
    distribution is simulated, for measuring only: never publish a seeded release.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 30]}), confidential="pay")
    >>> GeometricNoise(epsilon=1e-6).release(people, 0).posteriors([]).probabilities.round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """

    name: ClassVar[str] = "geometric-noise"
    needs: ClassVar = "order"
    private_noise: ClassVar[bool] = True
    epsilon: float = number(
        "privacy budget of one value: the odds of two values change by at most e^ε; less is safer",
        above=0,
        wanted="a finite number above 0",
        tries=Range(0.1, 100, stronger="less", ratio=True),
    )

    def release(self, people: Microdata, rng: Randomness = None) -> PrivateValues:
        """Draw the noise."""
        check_people("people", people)
        check_order(self.name, people, "so noise cannot move a value up or down")
        size = len(people.values)
        noisy = with_noise(people.codes.astype(np.int64), scale=(size - 1) / self.epsilon, rng=rng)
        labels = unchanged(people, people.confidential).labels
        channel = Bayes(
            GeometricSteps(size, np.exp(-self.epsilon / max(size - 1, 1))), np.full(size, 1 / size)
        )
        released = ReleasedColumn(np.clip(noisy, 0, size - 1), labels, channel)
        keys = {key: unchanged(people, key) for key in people.keys}
        return PrivateValues(people, keys, released, self.epsilon, mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        epsilon = exact(self.epsilon)
        return (
            f"She knows that each value of {people.confidential} was moved on its rank by two-sided geometric noise of "
            f"scale ({len(people.values):,} − 1)/ε and clamped to the domain, with ε = {epsilon}. Two files are "
            "neighbours, for the privacy budget, if they differ in the value of one person."
        )


@dataclass(frozen=True, eq=False)
class PrivateValues(LinkedRelease):
    """The file with each confidential value made differentially private, with an intruder who knows ε."""

    epsilon: float

    @property
    def privacy_budget(self) -> float | None:
        """The ε for a change of one person's value; None if the domain was not given: see `notes`."""
        return self.epsilon if self.people.domain_given else None

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        return [] if self.people.domain_given else [no_promise(self.people.confidential)]


def no_promise(confidential: str) -> str:
    """The note that a domain taken from the data gives no differential privacy."""
    return (
        f"No differential privacy is promised: the domain of {confidential} was taken from the data, so which values "
        "can be released depends on who is in it. State it when reading the people (domain=…)."
    )
