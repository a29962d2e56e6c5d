"""Data swapping: pairs of records exchange their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import is_number
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Bayes
from equivoc.intruder.channel.likelihood import Swapped
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.released_column import ReleasedColumn, unchanged
from equivoc.memory import check_memory
from equivoc.number_format import exact
from equivoc.techniques.setting import Setting
from equivoc.techniques.swapping.rank_moves import rank_moves
from equivoc.techniques.technique import (
    Randomness,
    Technique,
    check_order,
    checked_columns,
    columns_of,
    generator,
    in_words,
    knows_shares,
)


@dataclass(frozen=True)
class Swapping(Technique):
    """Exchange values within random pairs of a share ``rate`` of the records; each column of ``on`` has its own pairs.

    Without ``window`` all pairs are equally likely. With it, records are ranked by the column (equal ones in random
    order); from the lowest up, each record that takes part draws a partner from the unpaired ones at most ``window``
    percent of all ranks above it: rank swapping (Moore, 1996).

    Every value stays in the file, so its distribution is known. With m of n records taking part and N_d records of
    value d, ``P(true = d | released = c) = (1 − m/n)·[d = c] + m/n · (N_d − [d = c]) / (n − 1)``. With a window, see
    `rank_moves`.

    >>> import pandas as pd
    >>> people = Microdata(pd.DataFrame({"pay": [10, 20, 20, 30]}), confidential="pay")
    >>> release = Swapping(rate=0.5).release(people, 0)
    >>> sorted(release.table["pay"])
    [10, 20, 20, 30]
    >>> release.confidential.channel.dense().round(3)
    array([[0.5  , 0.333, 0.167],
           [0.167, 0.667, 0.167],
           [0.167, 0.333, 0.5  ]])
    """

    name: ClassVar[str] = "swapping"
    settings: ClassVar = (
        Setting(
            "rate", 0.01, 1, stronger="more", monotone=True, meaning="share of the records that take part"
        ),
        Setting(
            "window",
            1,
            100,
            stronger="more",
            monotone=True,
            meaning="how far a value may move, in percent of the ranks",
        ),
    )
    rate: float
    """The share of the records that take part, above 0 and at most 1. More is safer."""
    on: str | tuple[str, ...] = "confidential"
    """"confidential", "keys", "all", or columns by name."""
    window: float | None = None
    """How far a value may move, in percent of the ranks: above 0, at most 100; None: anywhere. More is safer."""

    def __post_init__(self) -> None:
        if not (is_number(self.rate) and 0 < self.rate <= 1):
            raise InputError(f"swapping: rate is {self.rate!r}; it must be above 0 and at most 1.")
        if self.window is not None and not (is_number(self.window) and 0 < self.window <= 100):
            raise InputError(
                f"swapping: window is {self.window!r}; it must be above 0 and at most 100 percent."
            )
        object.__setattr__(self, "on", checked_columns("swapping", self.on))

    @property
    def whole_records(self) -> bool:
        return self.window is None

    def release(self, people: Microdata, rng: Randomness = None) -> SwappedFile:
        """Draw the pairs, column by column, and exchange."""
        check_people("people", people)
        names = columns_of(self.name, people, self.on)
        if self.window is not None and people.confidential in names:
            check_order(self.name, people, "so a window of ranks is not defined")
        random = generator(rng)
        columns = {name: unchanged(people, name) for name in (*people.keys, people.confidential)}
        for name in names:
            swapped = self._swapped(columns[name], random)
            if name != people.confidential and swapped.channel is not None:
                levels = len(swapped.labels)
                check_memory(
                    f"swapping: the table of probabilities for the values of {name!r}",
                    rows=levels,
                    columns=levels,
                    advice="coarsen that key, or leave it out of on",
                )
                channel = swapped.channel
                swapped = replace(swapped, channel=channel.dense(), likelihood=channel.likelihood.dense())
            columns[name] = swapped
        confidential = columns.pop(people.confidential)
        return SwappedFile(people, columns, confidential, mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        columns = columns_of(self.name, people, self.on)
        near = "" if self.window is None else f" at most {exact(self.window)} % of the ranks apart"
        return (
            f"She knows that a share {exact(self.rate)} of the records exchanged their {in_words(columns)} in random "
            f"pairs{near}, each column in its own pairs, but not who took part.{knows_shares(people, columns)}"
        )

    def _swapped(self, column: ReleasedColumn, random: np.random.Generator) -> ReleasedColumn:
        codes, n = column.codes, len(column.codes)
        taking_part = min(2 * int(self.rate * n / 2 + 0.5), n - n % 2)
        if taking_part == 0:
            return column
        counts = np.bincount(codes, minlength=len(column.labels))
        drawn = random.choice(n, size=taking_part, replace=False)
        channel: Bayes
        if self.window is None:
            one, other = drawn[: taking_part // 2], drawn[taking_part // 2 :]
            channel = Bayes(Swapped(counts, taking_part / n), counts / n)
        else:
            reach = int(self.window * n / 100 + 1e-9)
            if reach == 0:
                raise InputError(
                    f"swapping: window is {self.window} % of {n} ranks, less than one rank; "
                    f"make it {100 / n:.3g} or more."
                )
            one, other = _rank_pairs(codes, np.sort(drawn), reach, random)
            channel = rank_moves(n, taking_part, reach).channel(counts)
        swapped = codes.copy()
        swapped[one], swapped[other] = codes[other], codes[one]
        return replace(column, codes=swapped, channel=channel)


@dataclass(frozen=True, eq=False)
class SwappedFile(LinkedRelease):
    """The file with values exchanged between records, with an intruder who knows how pairs are drawn."""


def _rank_pairs(
    codes: NDArray[np.integer], ranks: NDArray[np.int64], reach: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of records that exchange values, from those at these ranks; each pair is listed in both orders."""
    from equivoc.techniques.swapping.swapping_kernels import exchange

    record_at = np.lexsort([random.random(len(codes)), codes])
    partner = exchange(ranks, reach, random.integers(2**63, size=1, dtype=np.uint64))
    return record_at[ranks], record_at[ranks[partner]]
