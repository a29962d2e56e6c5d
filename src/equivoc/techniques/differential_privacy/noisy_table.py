"""A noisy table: counts of people by all keys and the confidential value, made differentially private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.release import Release
from equivoc.number_format import exact
from equivoc.techniques.differential_privacy.geometric_mechanism import check_epsilon, with_noise
from equivoc.techniques.differential_privacy.known_class_sizes import (
    LIKE_PRIORS,
    MOST_EXACT_CELLS,
    expected_values,
)
from equivoc.techniques.setting import Setting
from equivoc.techniques.technique import Randomness, Technique, in_words, knows_shares

MOST_CELLS = 20_000_000
"""Cells of the table; each takes some 16 bytes, and OpenDP a hundred thousand of them a second."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyTable(Technique):
    """Publish how many people there are in each cell keys × confidential value, with geometric noise of scale 1/ε.

    The cells are the full cross product of levels, empty ones included: an empty cell is as private as any count.
    Adding or removing a person changes one count by 1, so the table is ε-differentially private (2ε for a change of one
    person's value), if the cells are stated and not taken from the data. Counts below 0
    are published unchanged: sums stay unbiased, and clamping them would not reduce the risk.

    The simplest intruder, "paper", takes all true counts from 0 to the number of records as equally likely. For a value
    d, p(d) ∝ Σ E[true count | noisy count] over the cells that have this value and match what she knows. The informed
    intruder knows how many people match: see `NoisyCounts.informed_of_classes`.

    Without ``rng`` the noise is OpenDP's, and the table may be published. With a seed or a Generator the same
    distribution is simulated, for measuring only: never publish a seeded table.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"sex": list("FFM"), "pay": [10, 20, 20]}), confidential="pay", keys=["sex"])
    >>> release = NoisyTable(epsilon=50).release(people, 0)
    >>> release.table["count"].tolist(), release.posteriors(["sex"]).probabilities.round(3).tolist()
    ([1, 1, 0, 1], [[0.5, 0.5], [0.0, 1.0]])
    """

    name: ClassVar[str] = "noisy-table"
    private_noise: ClassVar[bool] = True
    settings: ClassVar = (
        Setting(
            "epsilon",
            0.01,
            10,
            stronger="less",
            monotone=True,
            meaning="privacy budget of one person",
            ratio=True,
        ),
    )
    choices: ClassVar = {"levels": ("data", "public")}
    epsilon: float
    """The privacy budget, above 0. Less is safer."""
    levels: str = "data"
    """"public": the caller states that the levels of the keys do not depend on who is in the file; "data": they do,
    and no differential privacy is promised."""

    def __post_init__(self) -> None:
        check_epsilon("noisy-table", self.epsilon)
        self.check_choices()

    @property
    def whole_records(self) -> bool:
        return True

    def release(self, people: Microdata, rng: Randomness = None) -> NoisyCounts:
        """Count every cell and draw its noise."""
        check_people("people", people)
        shape = (*(len(people.levels(key)) for key in people.keys), len(people.values))
        cells = prod(shape)
        if cells > MOST_CELLS:
            raise InputError(
                f"noisy-table: {' × '.join(map(str, shape))} levels make {cells:,} cells, more than {MOST_CELLS:,}; "
                "give fewer keys, or round and coarsen them first."
            )
        cell = np.zeros(len(people), dtype=np.int64)
        for key, levels in zip(people.keys, shape, strict=False):
            cell = cell * levels + people.key_codes(key)
        counts = np.bincount(cell * shape[-1] + people.codes, minlength=cells)
        noisy = with_noise(counts.astype(np.int64), scale=1 / self.epsilon, rng=rng)
        promised = people.domain_given and (self.levels == "public" or not people.keys)
        counted = noisy.reshape(shape)
        return NoisyCounts(people, counted, self.epsilon, promised, mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        return (
            f"She knows that the count of every cell of {in_words((*people.keys, people.confidential))} has two-sided "
            f"geometric noise of scale 1/ε, with ε = {exact(self.epsilon)}. Two tables are neighbours, for the privacy "
            f"budget, if one person is added or removed; to change one person's value costs 2ε."
            f"{knows_shares(people, people.keys)}"
        )


def expected_counts(epsilon: float, most: int) -> Floats:
    """E[true count | noisy count y] for y = 0 … ``most``, if the counts 0 … ``most`` are equally likely a priori.

    P(t | y) ∝ α^|y − t| with α = e^−ε. With S(m) = Σ α^k and K(m) = Σ k·α^k over k = 0 … m,
    E = y + (K(most − y) − K(y)) / (S(most − y) + S(y) − 1). A noisy count below 0 is as informative as 0, and one above
    ``most`` as informative as ``most``. Far from both ends E = y; near 0 it is above y: at 0, if most ≫ 1/ε, α/(1 − α).

    >>> expected_counts(np.log(2), 40)[[0, 1, 20]].round(4).tolist()
    [1.0, 1.6, 20.0]
    """
    k = np.arange(most + 1)
    powers = np.exp(-epsilon * k)
    sums, moments = np.cumsum(powers), np.cumsum(k * powers)
    return np.asarray(k + (moments[::-1] - moments) / (sums[::-1] + sums - 1))


@dataclass(frozen=True, eq=False)
class NoisyCounts(Release):
    """The differentially private counts by all keys and the confidential value, with an intruder who knows ε."""

    tabulated: ClassVar[bool] = True
    counts: NDArray[np.int64] = field(repr=False)
    """Levels of the first key × … × values: the noisy count of every cell."""
    epsilon: float
    promised: bool
    """True if the cells are given, not taken from the data."""

    @property
    def privacy_budget(self) -> float | None:
        """The ε of adding or removing one person (changing a value: twice that); None if there is no guarantee."""
        return self.epsilon if self.promised else None

    @property
    def value_budget(self) -> float | None:
        return 2 * self.epsilon if self.promised else None

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        notes = [] if self.promised else [self._no_promise]
        classes = self.people.classes(known)
        levels = (len(self.people.levels(key)) for key in self.people.keys if key not in classes.known)
        cells = len(classes) * len(self.people.values) * prod(levels)
        if cells > MOST_EXACT_CELLS:
            notes.append(
                f"With these keys known there are {cells:,} cells to compute, more than {MOST_EXACT_CELLS:,}: for the "
                f"intruder who knows each class's size, cells whose priors differ by less than {LIKE_PRIORS:.0%} are "
                "computed together."
            )
        return notes

    @property
    def _no_promise(self) -> str:
        return (
            "No differential privacy is promised: the cells of the table were taken from the data, so which of them "
            "there are depends on who is in it. State the domain when reading the people (domain=…), and, if the keys' "
            'levels do not depend on who is in the file, levels="public".'
        )

    @cached_property
    def table(self) -> Any:
        """One row per cell: its key values, its confidential value, its noisy count."""
        people, shape = self.people, self.counts.shape
        columns: dict[str, Any] = {}
        for axis, name in enumerate((*people.keys, people.confidential)):
            alone = np.arange(shape[axis], dtype=np.int32).reshape(-1, *[1] * (len(shape) - axis - 1))
            columns[name] = people.decode(name, np.broadcast_to(alone, shape).ravel())
        columns["count" if "count" not in columns else "count_"] = self.counts.ravel()
        return people.like(columns)

    @cached_property
    def _believed(self) -> Floats:
        most = len(self.people)
        return expected_counts(self.epsilon, most)[np.clip(self.counts, 0, most)]

    def of_classes(self, classes: Classes) -> Posteriors:
        keys = self.people.keys
        unknown = tuple(axis for axis, key in enumerate(keys) if key not in classes.known)
        left = [key for key in keys if key in classes.known]
        matching = self._believed.sum(axis=unknown)
        place = tuple(classes.key_codes[:, classes.known.index(key)] for key in left)
        weights = matching[place] if place else matching[None, :]
        return Posteriors(classes, self.people.attribute, weights, None)

    def informed_of_classes(self, classes: Classes, prior: Floats) -> Posteriors:
        """Exact Bayes for someone who knows ε, the size N of each class, the ``prior`` and the keys' distributions.

        The prior probability of each of the N people to be in a cell of the class (unknown keys × value) is the product
        of the unknown keys' shares and the value's prior. With y the noisy and t the true counts of these cells,
        ``P(t) ∝ Π prior^t/t! · α^|y − t|`` over all t that sum to N, and ``p(d) = Σ E[t] / N`` over the cells of d.
        Large tables are approximated: see `known_class_sizes`.
        """
        keys, shape = self.people.keys, self.counts.shape
        known = [keys.index(key) for key in classes.known]
        unknown = [axis for axis in range(len(keys)) if axis not in known]
        combinations = np.ones(1)
        for axis in unknown:
            shares = np.bincount(self.people.key_codes(keys[axis]), minlength=shape[axis]) / len(self.people)
            combinations = np.outer(combinations, shares).ravel()
        counts = self.counts.transpose(*known, *unknown, len(keys))
        counts = counts.reshape(*(shape[axis] for axis in known), len(combinations), shape[-1])
        of_class = counts[tuple(classes.key_codes.T)] if known else counts[None]
        weights = combinations[:, None] * prior
        found = expected_values(of_class, weights, classes.sizes, epsilon=self.epsilon)
        return Posteriors(classes, self.people.attribute, found, None)
