"""Rounding: numbers are replaced by multiples of a base, the nearest one or one of the two neighbours at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from equivoc.arguments import is_number
from equivoc.attributes.numbers import multiples, round_half_up, whole_steps
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.number_format import exact
from equivoc.techniques.generalisation.renumbering import Floats, Shown, levels_as_numbers, renumbered
from equivoc.techniques.setting import Setting
from equivoc.techniques.technique import (
    Columns,
    Randomness,
    Technique,
    checked_columns,
    columns_of,
    generator,
    in_words,
    knows_shares,
)

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
    settings: ClassVar = (
        Setting(
            "base",
            0.02,
            1,
            stronger="more",
            monotone=False,
            meaning="numbers become multiples of this",
            unit="width",
        ),
    )
    choices: ClassVar = {"method": ("nearest", "random")}
    base: float
    """Numbers become multiples of this, above 0. Larger is safer."""
    method: str = "nearest"
    """"nearest": to the nearest multiple; "random": up or down by chance, so that the mean stays."""
    on: Columns = "confidential"
    """"confidential", "keys", "all", or columns by name; all must be numbers."""

    def __post_init__(self) -> None:
        if not (is_number(self.base) and np.isfinite(self.base) and self.base > 0):
            raise InputError(f"rounding: base is {self.base!r}; it must be a number above 0.")
        self.check_choices()
        object.__setattr__(self, "on", checked_columns("rounding", self.on))

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
