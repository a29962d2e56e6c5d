"""The unit of a study: one release, measured for every intruder of the study. A pure function of its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.mixing import mixed_blocks
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import prior_probabilities
from equivoc.measure.parallel import on_one_core
from equivoc.study.knowledge import Knowledge
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
    """Averages over all classes of all subsets with so many known keys. Bits, and bits × the value's unit.

    Smaller is riskier.
    """

    known_size: int
    h0: float
    """Mean H0 over classes: each class (a subset of the keys, with values of them that occur) has weight 1."""
    area: float
    h0_record: float
    """Mean H0 over people: each class is weighted by its size."""
    area_record: float


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


def cell_randomness(seed: int, key: CellKey) -> np.random.Generator:
    """The cell's own random numbers; they depend only on the study's seed and the cell's key.

    >>> a, b = (cell_randomness(0, CellKey("sampling:fraction=0.1", r)).integers(1000) for r in (0, 1))
    >>> bool(a == b)
    False
    """
    words = np.frombuffer(sha256(key.technique.encode()).digest(), dtype="<u4")
    return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist(), key.replicate]))


def measure_cell(setting: Setting, key: CellKey) -> CellResult:
    """Make the cell's release and average H0 and A over the classes of every subset of known keys."""
    begin = perf_counter()
    technique = setting.techniques[key.technique]
    sums = {size: _Sums() for size in setting.knowledge.sizes}
    with on_one_core():
        try:
            release = technique.release(setting.people, cell_randomness(setting.seed, key))
            prior = prior_probabilities(setting.prior, setting.people)
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
    """Running sums of H0 and A over the classes of one number of known keys."""

    def __init__(self) -> None:
        self._waiting: list[Posteriors] = []
        self._weight = np.zeros(2)
        self._h0 = np.zeros(2)
        self._area = np.zeros(2)

    def add(self, found: Posteriors) -> None:
        """Add these posteriors; they are measured once there are enough for an efficient call."""
        self._waiting.append(found)
        if sum(len(waiting) for waiting in self._waiting) >= CLASSES_TOGETHER:
            self._measure()

    def figures(self, size: int) -> Figures:
        """The averages."""
        self._measure()
        h0, area = self._h0 / self._weight, self._area / self._weight
        return Figures(size, float(h0[0]), float(area[0]), float(h0[1]), float(area[1]))

    def _measure(self) -> None:
        if not self._waiting:
            return
        sizes = np.concatenate([waiting.sizes for waiting in self._waiting])
        h0, area = measure_together(self._waiting)
        self._waiting.clear()
        # Sums of products, not dot products: the last bits of a dot product depend on the number of BLAS threads.
        self._weight += (len(sizes), sizes.sum())
        self._h0 += (h0.sum(), (h0 * sizes).sum())
        self._area += (area.sum(), (area * sizes).sum())


def measure_together(posteriors: Sequence[Posteriors]) -> tuple[Floats, Floats]:
    """H0 and A of all classes of one release's posteriors. Classes with the same linkage are computed once.

    Areas of classes with many values are estimated, as in an assessment.
    """
    first = posteriors[0]
    h0, area = np.empty(sum(map(len, posteriors))), np.empty(sum(map(len, posteriors)))
    for block in mixed_blocks([found.link for found in posteriors], first.channel):
        measured = first.attribute.geometry.curves(block.probabilities, tolerance=None)
        h0[block.classes], area[block.classes] = measured.h0[block.of], measured.area[block.of]
    return h0, area
