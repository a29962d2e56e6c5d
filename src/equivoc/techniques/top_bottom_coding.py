"""Top and bottom coding: numbers beyond a limit are replaced by the limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from equivoc.arguments import is_number
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.number_format import exact
from equivoc.techniques.generalisation.renumbering import Shown, levels_as_numbers, renumbered
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
    settings: ClassVar = (
        Setting(
            "high",
            0,
            1,
            stronger="less",
            monotone=True,
            meaning="higher numbers are shown as this one",
            unit="value",
        ),
        Setting(
            "low",
            0,
            1,
            stronger="more",
            monotone=True,
            meaning="lower numbers are shown as this one",
            unit="value",
        ),
    )
    low: float | None = None
    """Lower numbers are shown as this one. Higher is safer."""
    high: float | None = None
    """Higher numbers are shown as this one. Lower is safer."""
    on: Columns = "confidential"
    """"confidential", "keys", "all", or columns by name; all must be numbers."""

    def __post_init__(self) -> None:
        for limit in ("low", "high"):
            given = getattr(self, limit)
            if given is not None and not (is_number(given) and np.isfinite(given)):
                raise InputError(f"top-bottom-coding: {limit} is {given!r}; it must be a finite number.")
        if self.low is None and self.high is None:
            raise InputError("top-bottom-coding: neither low nor high is given; give at least one of them.")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InputError(
                f"top-bottom-coding: low is {self.low} and high is {self.high}; low must be below high."
            )
        object.__setattr__(self, "on", checked_columns("top-bottom-coding", self.on))

    @property
    def random(self) -> bool:
        return False

    def release(self, people: Microdata, rng: Randomness = None) -> CodedEnds:
        """Replace numbers beyond the limits; nothing is random."""
        check_people("people", people)
        random = generator(rng)
        changed = {}
        for name in columns_of(self.name, people, self.on):
            numbers = levels_as_numbers(self.name, people, name)
            shown = Shown.always(np.clip(numbers, self.low, self.high))
            changed[name] = renumbered(self.name, people, name, shown, random)
        return replace(CodedEnds.changing(people, changed), mechanism=self.mechanism(people))

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
