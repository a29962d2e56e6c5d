"""Sampling: a simple random sample of the records is published, unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.channels.channel import Bayes
from equivoc.channels.likelihood import PublishedOrNothing
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.prior import Evidence
from equivoc.notation.declared import choice, number
from equivoc.notation.ranges import Range
from equivoc.releases.release import GroupedRelease
from equivoc.techniques.technique import Randomness, Technique, generator
from equivoc.text import exact


@dataclass(frozen=True)
class Sampling(Technique):
    """Publish ``round(fraction · n)`` records, drawn without replacement.

    With |M_o| records of the original and |M_s| of the sample matching what the intruder knows, and f_i the times the
    value d_i occurs among the latter,

        p_i = f_i / |M_o| + (|M_o| − |M_s|) / |M_o| · prior(d_i).

    The prior is that of the assessment. A given ``prior`` fixes the intruder: "uniform" is the paper's (its misprint
    ·|D| corrected to ·1/|D|), who knows nothing about people outside the sample; "marginal" uses the sample's
    distribution for them.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 10, 20, 30]}), confidential="pay")
    >>> release = Sampling(fraction=0.5).release(people, 1)
    >>> len(release.table), round(float(release.posteriors([]).probabilities.sum()), 12)
    (2, 1.0)
    """

    name: ClassVar[str] = "sampling"
    fraction: float = number(
        "share of the records that is published",
        above=0,
        at_most=1,
        tries=Range(0.01, 0.9, stronger="less", unit="share"),
    )
    prior: str | None = choice(
        "prior for records outside the sample; None: the assessment's", "uniform", "marginal", default=None
    )

    @property
    def whole_records(self) -> bool:
        return True

    def release(self, people: Microdata, rng: Randomness = None) -> Sample:
        """Draw the sample."""
        check_people("people", people)
        size = int(np.floor(self.fraction * len(people) + 0.5))
        if size == 0:
            raise InputError(
                f"sampling: fraction {self.fraction} of {len(people)} records is less than half a record; "
                "draw a larger share."
            )
        return self.of_drawn(people, np.sort(generator(rng).choice(len(people), size=size, replace=False)))

    def of_drawn(self, people: Microdata, drawn: NDArray[np.int64]) -> Sample:
        """The release of the records with these numbers, ascending."""
        size, values = len(drawn), len(people.values)
        group = np.full(len(people), values, dtype=np.int32)
        group[drawn] = people.codes[drawn]
        if self.prior == "marginal":
            expected = np.bincount(people.codes[drawn], minlength=values) / size
        else:
            expected = np.full(values, 1.0 / values)
        channel = Bayes(PublishedOrNothing(values), expected)
        fixed = self.prior is not None
        return Sample(people, group, channel, drawn, fixed=fixed, mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        expected = {
            None: "her prior",
            "uniform": "a uniform prior",
            "marginal": "the distribution of the sample",
        }[self.prior]
        return (
            f"She sees a simple random sample of {exact(100 * self.fraction)} % of the records, drawn without "
            f"replacement. For everyone outside it she uses {expected}."
        )


@dataclass(frozen=True, eq=False)
class Sample(GroupedRelease):
    """The published sample. Its channel is certain for a sampled record and the prior for any other."""

    drawn: NDArray[np.int64] = field(repr=False)
    """The numbers of the records that were drawn, ascending."""

    @property
    def table(self) -> Any:
        return self.people.like(self.shown)

    @property
    def shown(self) -> dict[str, Any]:
        people = self.people
        columns = {key: people.decode(key, people.key_codes(key)[self.drawn]) for key in people.keys}
        columns[people.confidential] = people.decode(people.confidential, people.codes[self.drawn])
        return columns

    @property
    def origins(self) -> NDArray[np.int64]:
        return self.drawn

    @cached_property
    def evidence(self) -> Evidence:
        hidden = np.ones(len(self.people), dtype=np.bool_)
        hidden[self.drawn] = False
        return replace(super().evidence, hidden=hidden)
