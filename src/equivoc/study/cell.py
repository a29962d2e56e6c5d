"""The unit of a study: one release, and what every intruder of the study makes of it. A pure function of its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors, believed, shares
from equivoc.measure.input.rows import Rows
from equivoc.measure.lanes.equal_rows import distinct_rows
from equivoc.measure.parallel import on_one_core
from equivoc.study.knowledge import Knowledge
from equivoc.techniques.technique import Technique

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
CLASSES_TOGETHER = 1 << 18
"""Classes that are measured in one call: many small subsets of the keys cost one call."""


MOST_CELLS = 1_000_000
"""Techniques × replicates of one study."""


class CellKey(NamedTuple):
    """What tells one cell of a study from the others."""

    technique: str
    """The technique's notation, such as ``sampling:fraction=0.1``."""
    replicate: int


class Figures(NamedTuple):
    """Averages over everything an intruder with that many known keys can know. Bits, and bits × the value's unit.

    Smaller is riskier.
    """

    known_size: int
    h0: float
    """Mean H0 where each class (a subset of the keys, and values of them that occur) counts once."""
    area: float
    h0_record: float
    """Mean H0 where each class counts as often as it has people: a random person's."""
    area_record: float


@dataclass(frozen=True)
class CellResult:
    """What was found for one cell."""

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


def cell_randomness(seed: int, key: CellKey) -> np.random.Generator:
    """The cell's own random numbers: from the study's seed and the cell's key, and from nothing else.

    >>> a, b = (cell_randomness(0, CellKey("sampling:fraction=0.1", r)).integers(1000) for r in (0, 1))
    >>> bool(a == b)
    False
    """
    words = np.frombuffer(sha256(key.technique.encode()).digest(), dtype="<u4")
    return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist(), key.replicate]))


def measure_cell(setting: Setting, key: CellKey) -> CellResult:
    """Make the cell's release and average H0 and A over all that its intruders can know."""
    begin = perf_counter()
    technique = setting.techniques[key.technique]
    sums = {size: _Sums() for size in setting.knowledge.sizes}
    with on_one_core():
        try:
            release = technique.release(setting.people, cell_randomness(setting.seed, key))
            for found in setting.knowledge.posteriors(release):
                sums[len(found.known)].add(found)
            figures = tuple(of_size.figures(size) for size, of_size in sums.items())
        except InputError as mistake:
            raise InputError(f"{key.technique}, replicate {key.replicate}: {mistake}") from None
        except MemoryError:
            raise InputError(
                f"{key.technique}, replicate {key.replicate}: there is too little memory for it with "
                f"{len(setting.people.values):,} values of {setting.people.confidential!r}; round them to fewer."
            ) from None
    return CellResult(key, figures, perf_counter() - begin)


class _Sums:
    """H0 and A summed over the classes of one number of known keys, as they come."""

    def __init__(self) -> None:
        self._waiting: list[Posteriors] = []
        self._weight = np.zeros(2)
        self._h0 = np.zeros(2)
        self._area = np.zeros(2)

    def add(self, found: Posteriors) -> None:
        """Take these posteriors in; they wait until there are enough to make a call worthwhile."""
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
        # Sums of products, not dot products: their last bits do not depend on how many threads BLAS has.
        self._weight += (len(sizes), sizes.sum())
        self._h0 += (h0.sum(), (h0 * sizes).sum())
        self._area += (area.sum(), (area * sizes).sum())


def measure_together(posteriors: Sequence[Posteriors]) -> tuple[Floats, Floats]:
    """H0 and A of all classes of one release's posteriors, one call for all. Classes linked alike are computed once."""
    first = posteriors[0]
    links = [shares(found.linkage, of=f"the known keys {list(found.known)}") for found in posteriors]
    if all(isinstance(each, np.ndarray) for each in links):
        link, of = np.concatenate(links), np.arange(sum(map(len, posteriors)))
    else:
        link, of = _distinct(links)
    measured = first.attribute.geometry.curves(believed(link, first.channel), tolerance=1e-3)
    return measured.h0[of], measured.area[of]


def _distinct(links: Sequence[Any]) -> tuple[csr_array, NDArray[np.int64]]:
    """The different rows of several tables, and for each row of them all which of those it is."""
    from scipy.sparse import csr_array

    links = [csr_array(link) for link in links]
    ends = np.cumsum([link.indptr[-1] for link in links])
    bounds = [
        np.zeros(1, np.int64),
        *(l.indptr[1:] + end - l.indptr[-1] for l, end in zip(links, ends, strict=True)),
    ]
    rows = Rows(
        np.concatenate([link.data for link in links]),
        np.concatenate([link.indices for link in links]).astype(np.int32, copy=False),
        np.concatenate(bounds),
        np.empty(0),
        links[0].shape[1],
    )
    representatives, of = distinct_rows(rows)
    whole = csr_array((rows.weights, rows.positions, rows.bounds), shape=(len(rows), rows.width))
    return whole[representatives], of
