"""SUDA: scores of records that are unique on few keys, and the contribution of each key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import checked_number
from equivoc.data.classes import Classes
from equivoc.data.lattice import largest_size
from equivoc.data.microdata import Microdata
from equivoc.models.of_file.measure import Known, known_classes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A table of all combinations of levels is used while it has at most this many entries (of a byte) per class …
_TABLE_SHARE = 8
# … or fits the cache anyway.
_SHORT_TABLE = 1 << 16


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The SUDA figures of each record, in the file's order; 0 for a record that is not unique. Smaller is safer."""

    classes: Classes = field(repr=False)
    _alone: Ints = field(repr=False)
    """The classes of one record; the other private arrays have one entry for each of them."""
    _score: Floats = field(repr=False)
    _dis_score: Floats = field(repr=False)
    _found: Ints = field(repr=False)
    _smallest: Ints = field(repr=False)
    _by_key: Floats = field(repr=False)

    @property
    def score(self) -> Floats:
        """The SUDA score: Σ over the record's minimal sample uniques."""
        return self._spread(self._score)

    @property
    def dis_score(self) -> Floats:
        """DIS-SUDA: an estimate of the chance that a match with this record is correct, 0 … 1."""
        return self._spread(self._dis_score)

    @property
    def msu_count(self) -> Ints:
        """How many minimal sample uniques the record has."""
        return self._spread(self._found)

    @property
    def smallest_msu(self) -> Ints:
        """The size of the record's smallest minimal sample unique; 0 if none was found."""
        return self._spread(self._smallest)

    @property
    def contributions(self) -> Floats:
        """Records × keys: the share of the record's score that comes from minimal sample uniques with the key.

        A minimal sample unique counts for each of its keys, so that a row sums to 1 or more.
        """
        return self._spread(self._by_key / np.maximum(self._score, 1.0)[:, None])

    @property
    def by_key(self) -> dict[str, float]:
        """The share of the file's total score that comes from minimal sample uniques with the key."""
        total = max(float(self._score.sum()), 1.0)
        return dict(zip(self.classes.known, (self._by_key.sum(axis=0) / total).tolist(), strict=True))

    def frame(self) -> Any:
        """One row per record in the file's order, as a frame of the people's kind."""
        shares = self.contributions
        columns = {f"{name}_contribution": shares[:, at] for at, name in enumerate(self.classes.known)}
        figures = {
            "suda": self.score,
            "dis_suda": self.dis_score,
            "msu_count": self.msu_count,
            "smallest_msu": self.smallest_msu,
        }
        return self.classes.people.like({**figures, **columns})

    @cached_property
    def _records(self) -> Ints:
        """The one record of each class in ``_alone``."""
        place = np.full(len(self.classes), -1, np.int32)
        place[self._alone] = np.arange(self._alone.size)
        of_record = place[self.classes.of_record]
        records = np.flatnonzero(of_record >= 0)
        return records[np.argsort(of_record[records])]

    def _spread(self, figures: NDArray[Any]) -> NDArray[Any]:
        spread = np.zeros((len(self.classes.people), *figures.shape[1:]), figures.dtype)
        spread[self._records] = figures
        return spread


def suda(
    people: Microdata, *, known: Known = None, max_size: int | None = None, fraction: float = 0.01
) -> SpecialUniques:
    """Minimal sample uniques of every record, the scores they give, and the keys they consist of.

    A set of keys is a *minimal sample unique* (MSU) of a record if no other record has the same values of them, and
    this is true of none of its subsets. An MSU of k of the K keys scores

        Π from i = k to M of (K − i),   M = min(max_size, K − 1),

    so (K − k)! when all sizes are searched; a record's SUDA score is the sum over its MSUs. With U records that are
    unique on all keys, P records that share all keys with exactly one other, and the sampling ``fraction`` π of the
    file (0.01 unless given, sdcMicro's),

        DIS = π·U / (π·U + (1 − π)·P),
        DIS-SUDA = 1 / (1 + U·(1/DIS − 1) / (score^a · Σ_unique score^−a)),   a = 1 + (8 − K)/20,

    which spreads the file's DIS over its records. Null is a value like any other. Sources: Elliot, Manning, Mayes,
    Gurd and Bane (2005), SUDA: a program for detecting special uniques; Manning, Haglin and Keane (2008), A recursive
    search algorithm for statistical disclosure assessment; the DIS-SUDA formula is that of the R package sdcMicro.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 30, 30, 41], "sex": list("FFMM"), "pay": [1, 2, 3, 4]})
    >>> found = suda(Microdata(frame, confidential="pay", keys=["age", "sex"]))
    >>> found.score, found.smallest_msu, found.by_key
    (array([0., 0., 1., 1.]), array([0, 0, 2, 1]), {'age': 1.0, 'sex': 0.5})
    """
    from equivoc.models.of_file.suda_kernels import add_uniques

    classes = known_classes(people, known)
    keys = len(classes.known)
    if max_size is not None:
        wanted = "a whole number of keys, at least 1"
        max_size = int(checked_number("max_size", max_size, wanted, lambda x: x >= 1 and x.is_integer()))
    most = largest_size(keys, max_size=max_size)
    fraction = checked_number("fraction", fraction, "above 0 and at most 1", lambda x: 0 < x <= 1)
    score = np.zeros(len(classes))
    found = np.zeros(len(classes), np.int64)
    smallest = np.zeros(len(classes), np.int64)
    by_key = np.zeros((len(classes), keys))
    for subset, rows in _minimal_uniques(classes, most):
        weight = msu_score(subset.size, keys=keys, max_size=most)
        add_uniques(rows, subset, weight, score, found, smallest, by_key)
    alone = np.flatnonzero(classes.sizes == 1)
    pairs = 2 * int(np.count_nonzero(classes.sizes == 2))
    dis = dis_suda(score[alone], pairs=pairs, keys=keys, fraction=fraction)
    return SpecialUniques(classes, alone, score[alone], dis, found[alone], smallest[alone], by_key[alone])


def msu_score(size: int, *, keys: int, max_size: int) -> float:
    """The score of one minimal sample unique of ``size`` keys.

    >>> msu_score(1, keys=4, max_size=3), msu_score(2, keys=4, max_size=3), msu_score(4, keys=4, max_size=4)
    (6.0, 2.0, 1.0)
    """
    return float(np.prod([keys - i for i in range(size, min(max_size, keys - 1) + 1)], initial=1.0))


def dis_suda(score: Floats, *, pairs: int, keys: int, fraction: float) -> Floats:
    """DIS spread over the unique records by their scores; a score of 0 stays 0.

    ``pairs`` is the number of records that share all keys with exactly one other.
    """
    scored = score > 0
    dis = np.zeros(score.size)
    if not scored.any():
        return dis
    power = score[scored] ** (1 + (8 - keys) / 20)
    # U · (1/DIS − 1) = (1 − π) · P / π
    dis[scored] = 1 / (1 + (1 - fraction) * pairs / fraction / (power * np.sum(1 / power)))
    return dis


def _minimal_uniques(classes: Classes, most: int) -> Iterator[tuple[Ints, Ints]]:
    """Each subset of the keys with the classes that it is a minimal sample unique of, small subsets first.

    A class that is unique on some keys is unique on every superset: it has no further minimal unique there, and equals
    no other class. So it is left out of the search of larger subsets.
    """
    from equivoc.models.of_file import suda_kernels as kernels

    keys = len(classes.known)
    radices = np.array([len(classes.people.levels(name)) for name in classes.known], np.int64)
    key_codes = np.asfortranarray(classes.key_codes)
    single = classes.sizes == 1
    settled: dict[tuple[int, ...], NDArray[np.uint8]] = {(): np.zeros((len(classes) + 7) // 8, np.uint8)}
    for size in range(1, most + 1):
        smaller, settled = settled, {}
        for subset in combinations(range(keys), size):
            done = np.bitwise_or.reduce([smaller[subset[:at] + subset[at + 1 :]] for at in range(size)])
            rows = kernels.unsettled(done, len(classes))
            columns = np.array(subset, np.int64)
            if size == keys:  # the classes differ on all keys
                alone = rows[single[rows]]
            elif prod(radices[columns].tolist()) <= _TABLE_SHARE * rows.size + _SHORT_TABLE:
                alone = kernels.lone_by_table(key_codes, columns, radices[columns], rows, single)
            else:
                alone = kernels.lone_by_hash(key_codes, columns, rows, single)
            yield columns, alone
            kernels.settle(alone, done)
            settled[subset] = done
