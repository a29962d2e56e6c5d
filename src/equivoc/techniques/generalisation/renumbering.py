"""Numeric columns released as other numbers (rounded, coded): the draw, its text, and its channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Bayes
from equivoc.intruder.channel.inversion import DENSE_CELLS, sparse_channel
from equivoc.intruder.channel.likelihood import Table
from equivoc.intruder.released_column import ReleasedColumn, unchanged
from equivoc.techniques.technique import check_numbers

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shown:
    """The released number of each level of a column: ``high`` with probability ``share``, otherwise ``low``."""

    low: Floats
    high: Floats
    share: Floats

    @classmethod
    def always(cls, numbers: Floats) -> Shown:
        """Each level always as one number."""
        return cls(numbers, numbers, np.zeros(len(numbers)))


def levels_as_numbers(technique: str, people: Microdata, name: str) -> Floats:
    """A column's levels without null; InputError if they are not numbers."""
    import pyarrow as pa

    if name == people.confidential:
        check_numbers(technique, people, "which cannot be rounded or cut off")
        return people.values
    levels = people.decode(name, np.arange(len(people.levels(name)))).drop_null()
    if not len(levels):
        return np.empty(0)
    if not (pa.types.is_integer(levels.type) or pa.types.is_floating(levels.type)):
        raise InputError(
            f"{technique}: the key {name!r} holds {levels.type} values; leave it out of on, or give it as numbers."
        )
    numbers: Floats = levels.to_numpy(zero_copy_only=False).astype(np.float64)
    if not np.isfinite(numbers).all():
        raise InputError(f"{technique}: the key {name!r} holds an infinite number; leave it out of on.")
    return numbers


def renumbered(
    technique: str, people: Microdata, name: str, shown: Shown, random: np.random.Generator
) -> ReleasedColumn:
    """The column with each level shown as ``shown`` says (a null stays null).

    With all levels equally likely a priori, P(level | number) ∝ P(number | level): levels that are always shown as the
    same number are equally likely.
    """
    before = unchanged(people, name)
    size = len(shown.low)
    if not size:  # nulls only
        return before
    if not shown.share.any() and np.array_equal(shown.low, before.labels[:size].to_numpy()):
        return before
    from scipy.sparse import csr_array

    numbers, place = np.unique(np.concatenate([shown.low, shown.high]), return_inverse=True)
    place = place.reshape(2, size)
    null = len(before.labels) - size  # 1 if there are nulls: the last level, and the last symbol
    place = np.concatenate([place, np.full((2, null), len(numbers))], axis=1)
    share = np.append(shown.share, np.zeros(null))
    symbols = len(numbers) + null
    if name != people.confidential and len(share) * symbols > DENSE_CELLS:
        raise InputError(
            f"{technique}: the key {name!r} has {len(share):,} values, to be shown as {symbols:,}; "
            "coarsen it more, or round it first."
        )
    level = np.tile(np.arange(len(share)), 2)
    weight = np.concatenate([1.0 - share, share])
    at = weight > 0
    transition = csr_array((weight[at], (level[at], place.ravel()[at])), shape=(len(share), symbols))
    up = np.zeros(len(before.codes), dtype=np.int64)
    if share.any():
        up = (random.random(len(before.codes)) < share[before.codes]).astype(np.int64)
    codes, labels = place[up, before.codes], _labels(before.labels, numbers, null)
    if name == people.confidential:
        return ReleasedColumn(codes, labels, Bayes(Table(transition), np.full(len(share), 1 / len(share))))
    return ReleasedColumn(codes, labels, sparse_channel(transition), likelihood=transition.T.toarray())


def _labels(levels: pa.Array, numbers: Floats, null: int) -> pa.Array:
    """The numbers as a column: integers if the original column holds integers and all numbers are whole."""
    import pyarrow as pa

    whole = pa.types.is_integer(levels.type) and np.array_equal(numbers, np.rint(numbers))
    written = numbers.astype(np.int64) if whole else numbers
    return pa.array(written.tolist() + [None] * null, pa.int64() if whole else pa.float64())
