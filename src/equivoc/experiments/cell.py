"""The unit of a study: one release, measured for every intruder of the study. A pure function of its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.surprise import guesses
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors, mixed_blocks, ranges
from equivoc.intruder.prior import prior_probabilities, without_zeros
from equivoc.intruder.truth import best_trust, mean_surprise
from equivoc.parallel import on_one_core
from equivoc.requests.question import Knowledge
from equivoc.techniques.technique import Technique

# H0, area and beliefs about the true values for the classes of several subsets of the keys, measured in one
# call.

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeasuredTogether:
    """The figures of all classes, and of all their cells: the people of one class with one true value."""

    sizes: NDArray[np.int64] = field(repr=False)
    """How many people each class has."""
    h0: Floats = field(repr=False)
    area: Floats = field(repr=False)
    people: Floats = field(repr=False)
    """How many people each cell has."""
    values: NDArray[np.int64] = field(repr=False)
    """The number of each cell's true value."""
    belief: Floats = field(repr=False)
    """The probability that the intruder gives each cell's true value."""
    right: Floats = field(repr=False)
    """The chance that her best guess comes within ε/2 of it."""
    subsets: NDArray[np.int64] = field(repr=False)
    """Where the cells of each subset begin, and where the last end."""

    def surprises(self, prior: Floats) -> Iterator[float]:
        """For each subset of the keys: her mean surprise T(0), in bits per person."""
        given = without_zeros(prior)[self.values]
        belief = np.minimum(self.belief, 1.0)
        for begin, end in zip(self.subsets[:-1], self.subsets[1:], strict=True):
            cells = belief[begin:end], given[begin:end], self.people[begin:end]
            yield mean_surprise(*cells, best_trust(*cells))


def measure_together(posteriors: Sequence[Posteriors], eps: float) -> MeasuredTogether:
    """Measure all classes of posteriors with one channel. Classes with the same linkage are computed once.

    Areas of classes with many values are estimated, as in an assessment; ``eps`` is the tolerance of the guesses.
    """
    first = posteriors[0]
    geometry = first.attribute.geometry
    counts = [found.classes.counts for found in posteriors]
    ends = np.cumsum([0, *(each.nnz for each in counts)])
    begins = [
        np.asarray(each.indptr[:-1], np.int64) + end for each, end in zip(counts, ends[:-1], strict=True)
    ]
    bounds = np.concatenate([*begins, ends[-1:]])
    values = np.concatenate([each.indices for each in counts]).astype(np.int64)
    classes, cells = len(bounds) - 1, len(values)
    h0, area, belief, right = np.empty(classes), np.empty(classes), np.empty(cells), np.empty(cells)
    truths = geometry.positions[values]
    for block in mixed_blocks([found.link for found in posteriors], first.channel):
        measured = geometry.curves(block.probabilities, tolerance=None)
        h0[block.classes], area[block.classes] = measured.h0[block.of], measured.area[block.of]
        lengths = bounds[block.classes + 1] - bounds[block.classes]
        at = ranges(bounds[block.classes], bounds[block.classes + 1])
        rows = np.repeat(block.of, lengths)
        belief[at] = np.asarray(block.probabilities[rows, values[at]], np.float64).reshape(-1)
        within = np.concatenate([[0], np.cumsum(lengths)])
        right[at] = measured.rows(block.of).right_guesses(eps, truths[at], within)
    sizes = np.concatenate([found.sizes for found in posteriors])
    people = np.concatenate([each.data for each in counts]).astype(np.float64)
    return MeasuredTogether(sizes, h0, area, people, values, belief, right, ends)


def prior_surprise(prior: Floats, people: Microdata) -> float:
    """The mean surprise of someone who has not seen the release, in bits per person."""
    given, everyone = without_zeros(prior), np.bincount(people.codes, minlength=len(prior))
    return mean_surprise(given, given, everyone.astype(np.float64), 0.0)


CLASSES_TOGETHER = 1 << 18
"""Classes that are measured in one call, so that many small subsets of the keys share one."""


class CellKey(NamedTuple):
    """What identifies a cell of a study."""

    technique: str
    """The technique's notation, such as ``sampling:fraction=0.1``."""
    replicate: int


class Figures(NamedTuple):
    """Averages over all classes, or people, of all subsets with so many known keys. Bits, and bits × the value's unit.

    Smaller is riskier, but for ``gain`` and ``true_hit``: there more is.
    """

    known_size: int
    h0: float
    """Mean H0 over classes: each class (a subset of the keys, with values of them that occur) has weight 1."""
    area: float
    h0_record: float
    """Mean H0 over people: each class is weighted by its size."""
    area_record: float
    surprise: float
    """T(0): mean bits per person by which the true value surprises the intruder, the prior mixed in for each subset."""
    gain: float
    """The prior's surprise less hers, in bits per person; never negative."""
    true_hit: float
    """The share of people for whom her best guess is right, at the tolerance of `true_hit_tolerance`; where several
    intruders were tried, of the one who is right about most people, for each subset."""


@dataclass(frozen=True)
class CellResult:
    """The figures of one cell."""

    key: CellKey
    figures: tuple[Figures, ...]
    """One per number of known keys, ascending."""
    seconds: float = field(compare=False)
    """How long it took; the only part that differs from run to run."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What all cells of a study share."""

    people: Microdata
    techniques: dict[str, Technique]
    """By notation."""
    knowledge: Knowledge
    seed: int
    prior: str = "marginal"
    intruder: str = "informed"

    def measure(self, key: CellKey) -> CellResult:
        """The figures of one cell."""
        return measure_cell(self, key)


def cell_randomness(seed: int, key: CellKey) -> np.random.Generator:
    """The cell's own random numbers; they depend only on the study's seed and the cell's key.

    >>> a, b = (cell_randomness(0, CellKey("sampling:fraction=0.1", r)).integers(1000) for r in (0, 1))
    >>> bool(a == b)
    False
    """
    words = np.frombuffer(sha256(key.technique.encode()).digest(), dtype="<u4")
    return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist(), key.replicate]))


def true_hit_tolerance(people: Microdata) -> float:
    """The ε of `Figures.true_hit`: the first default tolerance of an assessment above 0; 0 if there is none.

    >>> import pandas as pd
    >>> true_hit_tolerance(Microdata(pd.DataFrame({"pay": [50, 107]}), confidential="pay"))
    5.0
    """
    return next((eps for eps in people.attribute.geometry.default_tolerances() if eps > 0), 0.0)


def measure_cell(setting: Setting, key: CellKey) -> CellResult:
    """Make the cell's release and average its figures over the classes of every subset of known keys."""
    begin = perf_counter()
    technique = setting.techniques[key.technique]
    with on_one_core():
        try:
            release = technique.release(setting.people, cell_randomness(setting.seed, key))
            prior = prior_probabilities(setting.prior, setting.people)
            eps = true_hit_tolerance(setting.people)
            without = prior_surprise(prior, setting.people)
            sums = {size: _Sums(prior, without, eps) for size in setting.knowledge.sizes}
            believed = setting.knowledge.believed(release, prior=prior, intruder=setting.intruder)
            for found, others in believed:
                sums[len(found.known)].add(found, others)
            figures = tuple(of_size.figures(size) for size, of_size in sums.items())
        except InputError as mistake:
            raise InputError(f"{key.technique}, replicate {key.replicate}: {mistake}") from None
        except MemoryError:
            raise InputError(
                f"{key.technique}, replicate {key.replicate}: there is too little memory for "
                f"{len(setting.people.values):,} values of {setting.people.confidential!r}; round them to fewer values."
            ) from None
    return CellResult(key, figures, perf_counter() - begin)


class _Sums:
    """Running sums of all figures over the classes, or people, of one number of known keys."""

    def __init__(self, prior: Floats, without: float, eps: float) -> None:
        self._prior, self._without, self._eps = prior, without, eps
        self._waiting: list[Posteriors] = []
        self._right_of_others: list[float] = []
        self._weight = np.zeros(2)
        self._h0 = np.zeros(2)
        self._area = np.zeros(2)
        self._subsets = 0
        self._surprise = 0.0
        self._right = 0.0

    def add(self, found: Posteriors, others: Sequence[Posteriors] = ()) -> None:
        """Add these posteriors; they are measured once there are enough for an efficient call.

        ``others`` were tried beside them: their guesses count where they are right about more people.
        """
        if self._waiting and found.channel is not self._waiting[0].channel:
            self._measure()  # intruders who learn, or of another strength, have a channel of their own
        self._waiting.append(found)
        self._right_of_others.append(max((self._right_about(each) for each in others), default=0.0))
        if sum(len(waiting) for waiting in self._waiting) >= CLASSES_TOGETHER:
            self._measure()

    def figures(self, size: int) -> Figures:
        """The averages."""
        self._measure()
        (h0, h0_record), (area, area_record) = (
            (each / self._weight).tolist() for each in (self._h0, self._area)
        )
        surprise = self._surprise / self._subsets
        return Figures(
            size,
            h0,
            area,
            h0_record,
            area_record,
            surprise=surprise,
            gain=max(0.0, self._without - surprise),
            true_hit=float(self._right / self._weight[1]),
        )

    def _measure(self) -> None:
        if not self._waiting:
            return
        found = measure_together(self._waiting, self._eps)
        others = list(self._right_of_others)
        self._waiting.clear()
        self._right_of_others.clear()
        # Sums of products, not dot products: the last bits of a dot product depend on the number of BLAS threads.
        sizes, h0, area = found.sizes, found.h0, found.area
        self._weight += (len(sizes), sizes.sum())
        self._h0 += (h0.sum(), (h0 * sizes).sum())
        self._area += (area.sum(), (area * sizes).sum())
        # Every subset has the same people, so each counts once.
        for surprise in found.surprises(self._prior):
            self._surprise += surprise
            self._subsets += 1
        right = found.right * found.people
        for begin, end, of_others in zip(found.subsets[:-1], found.subsets[1:], others, strict=True):
            self._right += max(float(right[begin:end].sum()), of_others)

    def _right_about(self, posteriors: Posteriors) -> float:
        """The number of people about whom the best guess is right."""
        found = guesses("", posteriors, (self._eps,), without_zeros(self._prior))
        return float((found.right[self._eps] * posteriors.classes.counts.data).sum())
