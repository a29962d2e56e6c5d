"""Geometric noise: each confidential value is made differentially private before it is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equivoc.data.microdata import Microdata, check_people
from equivoc.intruder.channel.channel import Bayes
from equivoc.intruder.channel.likelihood import GeometricSteps
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.released_column import ReleasedColumn, unchanged
from equivoc.number_format import exact
from equivoc.techniques.differential_privacy.geometric_mechanism import check_epsilon, with_noise
from equivoc.techniques.setting import Setting
from equivoc.techniques.technique import Randomness, Technique, check_order


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
    settings: ClassVar = (
        Setting(
            "epsilon",
            0.1,
            100,
            stronger="less",
            monotone=True,
            meaning="privacy budget of one value",
            ratio=True,
        ),
    )
    epsilon: float
    """The privacy budget, above 0: the odds of two values change by at most e^ε. Less is safer."""

    def __post_init__(self) -> None:
        check_epsilon("geometric-noise", self.epsilon)

    def release(self, people: Microdata, rng: Randomness = None) -> PrivateValues:
        """Draw the noise."""
        check_people("people", people)
        check_order(self.name, people, "so noise cannot move a value up or down")
        size = len(people.values)
        noisy = with_noise(people.codes.astype(np.int64), scale=(size - 1) / self.epsilon, rng=rng)
        labels = unchanged(people, people.confidential).labels
        told = Bayes(GeometricSteps(size, np.exp(-self.epsilon / max(size - 1, 1))), np.full(size, 1 / size))
        released = ReleasedColumn(np.clip(noisy, 0, size - 1), labels, told)
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
