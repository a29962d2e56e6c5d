"""Top and bottom coding: numbers beyond a limit are replaced by the limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.notation.declared import columns, number
from equivoc.notation.ranges import Range
from equivoc.notation.words import Columns
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.inside.exact_ends import exact_limits
from equivoc.techniques.rounding import Shown, levels_as_numbers, renumbered
from equivoc.techniques.technique import (
    ON,
    Randomness,
    Technique,
    columns_of,
    generator,
    in_words,
    knows_shares,
)
from equivoc.text import exact


@dataclass(frozen=True)
class TopBottomCoding(Technique):
    """Show numbers below ``low`` as low and numbers above ``high`` as high; the rest, and nulls, unchanged.

    The intruder knows the limits: a released ``high`` may be every value of the domain that is at least high, in the
    proportions of the prior; ``low`` likewise; any other number is the true one.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 80, 90]}), confidential="pay")
    >>> release = TopBottomCoding(high=80).release(people)
    >>> release.table["pay"].tolist(), release.posteriors([]).curves().h0
    ([10, 20, 80, 80], array([2.]))
    """

    name: ClassVar[str] = "top-bottom-coding"
    needs: ClassVar = "numbers"
    usual: ClassVar[str] = "high"
    low: float | None = number(
        "lower numbers are shown as this one; higher is safer",
        default=None,
        tries=Range(0, 1, unit="value"),
    )
    high: float | None = number(
        "higher numbers are shown as this one; lower is safer",
        default=None,
        tries=Range(0, 1, stronger="less", unit="value"),
    )
    on: Columns = columns(f"{ON}; all must be numbers", default="confidential")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is None and self.high is None:
            raise InputError("top-bottom-coding: neither low nor high is given; give at least one of them.")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InputError(
                f"top-bottom-coding: low is {self.low} and high is {self.high}; low must be below high."
            )

    @property
    def random(self) -> bool:
        return False

    def release(self, people: Microdata, rng: Randomness = None) -> CodedEnds:
        """Replace numbers beyond the limits; nothing is random."""
        check_people("people", people)
        random = generator(rng)
        changed = {}
        columns = columns_of(self.name, people, self.on)
        for name in columns:
            numbers = levels_as_numbers(self.name, people, name)
            shown = Shown.always(np.clip(numbers, self.low, self.high))
            changed[name] = renumbered(self.name, people, name, shown, random)
        return replace(
            CodedEnds.changing(people, changed),
            mechanism=self.mechanism(people),
            exactly=exact_limits(people, columns, self.low, self.high),
        )

    def mechanism(self, people: Microdata) -> str:
        columns = columns_of(self.name, people, self.on)
        ends = [
            f"{side} {exact(limit)} are shown as {exact(limit)}"
            for side, limit in (("below", self.low), ("above", self.high))
            if limit is not None
        ]
        return (
            f"She knows that numbers of {in_words(columns)} {in_words(ends)}; all others are unchanged."
            f"{knows_shares(people, columns)}"
        )


@dataclass(frozen=True, eq=False)
class CodedEnds(LinkedRelease):
    """The file with numbers beyond a limit replaced by the limit, with an intruder who knows the limits."""
