"""Rounding: numbers are replaced by multiples of a base, the nearest one or one of the two neighbours at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.numbers import multiples, round_half_up, whole_steps
from equivoc.channels.channel import DENSE_CELLS, Bayes, sparse_channel
from equivoc.channels.likelihood import Table
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.notation.declared import choice, columns, number
from equivoc.notation.ranges import Range
from equivoc.notation.words import Columns
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.technique import (
    ON,
    Randomness,
    Technique,
    check_numbers,
    columns_of,
    generator,
    in_words,
    knows_shares,
)
from equivoc.text import exact

if TYPE_CHECKING:
    import pyarrow as pa

# Numeric columns released as other numbers (rounded, coded): the draw, its text, and its channel.

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
    own = name == people.confidential
    levels = people.values if own else before.labels[:size].to_numpy()
    if not shown.share.any() and np.array_equal(shown.low, levels):
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
    dated = own and people.attribute.dates is not None
    labels = people.attribute.written(numbers) if dated else _labels(before.labels, numbers, null)
    codes = place[up, before.codes]
    if name == people.confidential:
        return ReleasedColumn(codes, labels, Bayes(Table(transition), np.full(len(share), 1 / len(share))))
    return ReleasedColumn(codes, labels, sparse_channel(transition), likelihood=transition.T.toarray())


def _labels(levels: pa.Array, numbers: Floats, null: int) -> pa.Array:
    """The numbers as a column: integers if the original column holds integers and all numbers are whole."""
    import pyarrow as pa

    whole = pa.types.is_integer(levels.type) and np.array_equal(numbers, np.rint(numbers))
    written = numbers.astype(np.int64) if whole else numbers
    return pa.array(written.tolist() + [None] * null, pa.int64() if whole else pa.float64())


CLOSE = 1e-9
"""A number this close to a multiple, in bases, counts as that multiple."""


@dataclass(frozen=True)
class Rounding(Technique):
    """Show each number as a multiple of ``base``.

    ``method="nearest"``: the nearest multiple, a half up. ``method="random"``: of the multiples m ≤ x < m + base,
    the upper one with probability (x − m)/base, so that sums are unbiased (unbiased random rounding; Fellegi,
    1975); a number that is a multiple stays. A null key stays null.

    The intruder knows base and method: P(d | released) ∝ P(released | d) · prior(d); likewise for keys, with their
    shares in the file as the prior. (The paper's intruder takes all values as equally likely a priori.)

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [11, 14, 16, 29]}), confidential="pay")
    >>> release = Rounding(base=10).release(people)
    >>> release.table["pay"].tolist(), release.posteriors([]).probabilities.tolist()
    ([10, 10, 20, 30], [[0.25, 0.25, 0.25, 0.25]])
    """

    name: ClassVar[str] = "rounding"
    needs: ClassVar = "numbers"
    base: float = number(
        "numbers become multiples of this; larger is safer",
        above=0,
        tries=Range(0.02, 1, monotone=False, unit="width"),
    )
    method: str = choice(
        '"nearest": to the nearest multiple; "random": up or down by chance, so that the mean stays',
        "nearest",
        "random",
        default="nearest",
    )
    on: Columns = columns(f"{ON}; all must be numbers", default="confidential")

    @property
    def random(self) -> bool:
        return self.method == "random"

    def release(self, people: Microdata, rng: Randomness = None) -> RoundedFile:
        """Round the columns, one after the other."""
        check_people("people", people)
        random = generator(rng)
        changed = {}
        for name in columns_of("rounding", people, self.on):
            shown = self._shown(levels_as_numbers("rounding", people, name))
            changed[name] = renumbered("rounding", people, name, shown, random)
        return replace(RoundedFile.changing(people, changed), mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        columns = columns_of("rounding", people, self.on)
        how = "the nearest" if self.method == "nearest" else "the one below or above, at random and unbiased"
        return (
            f"She knows that {in_words(columns)} {'was' if len(columns) == 1 else 'were'} rounded to multiples of "
            f"{exact(self.base)}: {how}.{knows_shares(people, columns)}"
        )

    def _shown(self, numbers: Floats) -> Shown:
        if self.method == "nearest":
            return Shown.always(round_half_up(numbers, self.base))
        steps = whole_steps(numbers, self.base)
        share = numbers / self.base - steps
        share = np.where(share < CLOSE, 0.0, np.minimum(share, 1.0))
        return Shown(multiples(steps, self.base), multiples(steps + 1, self.base), share)


@dataclass(frozen=True, eq=False)
class RoundedFile(LinkedRelease):
    """The file with numbers rounded to multiples of a base, with an intruder who knows the base and the method."""
