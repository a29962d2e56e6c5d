"""A noisy table: counts of people by all keys and the confidential value, made differentially private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.noisy_counts import expected_counts
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths import Choice, InapplicableError, choose
from equivoc.notation.declared import choice, number
from equivoc.notation.ranges import Range
from equivoc.releases.release import Release
from equivoc.techniques.geometric_noise import with_noise
from equivoc.techniques.technique import Randomness, Technique, in_words, knows_shares
from equivoc.text import exact

# The expected number of people with each value in classes of known size, given a noisy table.

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_EXACT_CELLS = 100_000
"""Classes × cells of each: up to this many, each cell is computed separately (about 10 microseconds per cell)."""
LIKE_PRIORS = 0.2
"""Beyond that, cells of a class with equal noisy counts whose log priors fall into the same step of this width are
computed together, and each corrected to first order. On the shipped people this moves T(0) by less than 0.001 bit."""
CELLS_AT_A_TIME = 2**21


def expected_values(noisy: Ints, weights: Floats, people: Ints, *, epsilon: float) -> Floats:
    """Classes × values: the expected number of people of each class who have each value.

    ``noisy`` is classes × combinations of unknown keys × values: the noisy counts of each class's cells. ``weights``,
    combinations × values, is the prior of each cell, the same for all classes; ``people`` the size of each class. Each
    person of a class is in each of its cells with prior probability ∝ ``weights``, and the noise of each cell
    is two-sided geometric with α = e^−ε (`noisy_counts`).

    >>> noisy, weights = np.array([[[2, 0]]]), np.array([[0.5, 0.5]])
    >>> expected_values(noisy, weights, np.array([2]), epsilon=-np.log(0.1)).round(3)
    array([[1.98, 0.02]])
    """
    if noisy.size <= MOST_EXACT_CELLS:
        return _each_cell(noisy, weights, people, epsilon)
    found = np.empty((len(noisy), noisy.shape[2]))
    step = max(1, CELLS_AT_A_TIME // weights.size)
    for at in range(0, len(noisy), step):
        part = slice(at, at + step)
        found[part] = _like_cells(noisy[part], weights, people[part], epsilon)
    return found


def _each_cell(noisy: Ints, weights: Floats, people: Ints, epsilon: float) -> Floats:
    classes = len(noisy)
    starts = np.arange(classes + 1) * weights.size
    cells = np.tile(weights.ravel(), classes)
    found = expected_counts(noisy.ravel(), cells, starts, people, alpha=np.exp(-epsilon))
    return np.asarray(found.reshape(noisy.shape).sum(axis=1))


def _like_cells(noisy: Ints, weights: Floats, people: Ints, epsilon: float) -> Floats:
    """As `_each_cell`, with cells of equal counts and nearly equal priors together.

    The derivative of a cell's expected count E by the logarithm of its prior is the count's variance: about E·(1 − E)
    for counts that are mostly 0 or 1. It is left out for larger counts, which depend mostly on the noisy count.
    """
    possible = weights > 0
    logs = np.log(weights, out=np.zeros_like(weights), where=possible)
    step = np.floor(logs / LIKE_PRIORS).astype(np.int64)
    step = np.where(possible, step - step.min() + 1, 0)  # 0: cells that nobody can be in
    steps = int(step.max()) + 1
    counts = np.clip(noisy, 0, people[:, None, None])
    span = int(counts.max()) + 1
    kind = (np.arange(len(noisy))[:, None, None] * span + counts) * steps + step
    kinds, of_cell, copies = np.unique(kind, return_inverse=True, return_counts=True)
    of_cell = of_cell.reshape(noisy.shape)
    mean = np.bincount(of_cell.ravel(), np.tile(weights.ravel(), len(noisy))) / copies
    starts = np.searchsorted(kinds, np.arange(len(noisy) + 1) * span * steps)
    found = expected_counts(
        kinds // steps % span, mean, starts, people, alpha=np.exp(-epsilon), copies=copies
    )
    spread = found * np.maximum(1.0 - found, 0.0)
    log_mean = np.log(mean, out=np.zeros_like(mean), where=mean > 0)
    corrected = found[of_cell] + spread[of_cell] * np.where(possible, logs - log_mean[of_cell], 0.0)
    return np.asarray(np.maximum(corrected, 0.0).sum(axis=1))


MOST_CELLS = 20_000_000
"""Cells of the table; each takes some 16 bytes, and OpenDP a hundred thousand of them a second."""


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
    epsilon: float = number(
        "privacy budget of one person; less is safer",
        above=0,
        wanted="a finite number above 0",
        tries=Range(0.01, 10, stronger="less", ratio=True),
    )
    levels: str = choice(
        '"public": the caller states that the levels of the keys do not depend on who is in the file; "data": they do, '
        "and no differential privacy is promised",
        "data",
        "public",
        default="data",
    )

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


def expected_counts_up_to(epsilon: float, most: int) -> Floats:
    """E[true count | noisy count y] for y = 0 … ``most``, if the counts 0 … ``most`` are equally likely a priori.

    P(t | y) ∝ α^|y − t| with α = e^−ε. With S(m) = Σ α^k and K(m) = Σ k·α^k over k = 0 … m,
    E = y + (K(most − y) − K(y)) / (S(most − y) + S(y) − 1). A noisy count below 0 is as informative as 0, and one above
    ``most`` as informative as ``most``. Far from both ends E = y; near 0 it is above y: at 0, if most ≫ 1/ε, α/(1 − α).

    >>> expected_counts_up_to(np.log(2), 40)[[0, 1, 20]].round(4).tolist()
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
        return expected_counts_up_to(self.epsilon, most)[np.clip(self.counts, 0, most)]

    def of_classes(self, classes: Classes) -> Posteriors:
        weights = self._matching(self._believed, classes)
        return Posteriors(classes, self.people.attribute, weights, None)

    def _matching(self, cells: Floats, classes: Classes) -> Floats:
        """Classes × values: the sum of the cells that match the known keys."""
        keys = self.people.keys
        unknown = tuple(axis for axis, key in enumerate(keys) if key not in classes.known)
        left = [key for key in keys if key in classes.known]
        matching = cells.sum(axis=unknown)
        place = tuple(classes.key_codes[:, classes.known.index(key)] for key in left)
        return np.asarray(matching[place] if place else matching[None, :])

    def unreadable(self, intruder: str) -> str:
        return "the release is a table of counts, not of records" if intruder == "file" else ""

    def plainly(self, classes: Classes, prior: Floats, intruder: str) -> Choice:
        """The published counts as they are, negative ones as 0; a class without any has the prior."""
        if intruder == "file":
            raise InapplicableError(self.unreadable(intruder))
        weights = self._matching(np.maximum(self.counts, 0).astype(np.float64), classes)
        nobody = weights.sum(axis=1) == 0
        found = Posteriors(classes, self.people.attribute, np.where(nobody[:, None], prior, weights), None)
        return choose([intruder], lambda _: found, prior, {})

    def informed_of_classes(self, classes: Classes, prior: Floats) -> Posteriors:
        """Exact Bayes for someone who knows ε, the size N of each class, the ``prior`` and the keys' distributions.

        The prior probability of each of the N people to be in a cell of the class (unknown keys × value) is the product
        of the unknown keys' shares and the value's prior. With y the noisy and t the true counts of these cells,
        ``P(t) ∝ Π prior^t/t! · α^|y − t|`` over all t that sum to N, and ``p(d) = Σ E[t] / N`` over the cells of d.
        Large tables are approximated: see the top of this file.
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
