"""The unit of a study: one release, measured for every intruder of the study. A pure function of its key."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import prior_probabilities
from equivoc.measure.parallel import on_one_core
from equivoc.study.knowledge import Knowledge
from equivoc.study.measured_together import measure_together, prior_surprise
from equivoc.techniques.technique import Technique

Floats = NDArray[np.float64]
CLASSES_TOGETHER = 1 << 18
"""Classes that are measured in one call, so that many small subsets of the keys share one."""


MOST_CELLS = 1_000_000
"""The most techniques × replicates of one study."""


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
    """The share of people for whom her best guess is right, at the tolerance of `true_hit_tolerance`."""


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
            for found in setting.knowledge.posteriors(release, prior=prior, intruder=setting.intruder):
                sums[len(found.known)].add(found)
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
        self._weight = np.zeros(2)
        self._h0 = np.zeros(2)
        self._area = np.zeros(2)
        self._subsets = 0
        self._surprise = 0.0
        self._right = 0.0

    def add(self, found: Posteriors) -> None:
        """Add these posteriors; they are measured once there are enough for an efficient call."""
        if self._waiting and found.channel is not self._waiting[0].channel:
            self._measure()  # intruders who learn, or of another strength, have a channel of their own
        self._waiting.append(found)
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
        self._waiting.clear()
        # Sums of products, not dot products: the last bits of a dot product depend on the number of BLAS threads.
        sizes, h0, area = found.sizes, found.h0, found.area
        self._weight += (len(sizes), sizes.sum())
        self._h0 += (h0.sum(), (h0 * sizes).sum())
        self._area += (area.sum(), (area * sizes).sum())
        # Every subset has the same people, so each counts once.
        for surprise in found.surprises(self._prior):
            self._surprise += surprise
            self._subsets += 1
        self._right += float((found.right * found.people).sum())
