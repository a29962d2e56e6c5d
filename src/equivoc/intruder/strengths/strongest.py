"""The strongest intruder: of those that apply, the one whose beliefs come closest to the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.beliefs.truth import Truth, hold_against_truth
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import LEAST

Floats = NDArray[np.float64]
STRENGTHS = ("informed", "register", "learned", "paper")
"""Intruders, the one to prefer first if their surprises are about the same."""
INTRUDERS = ("strongest", *sorted(STRENGTHS))
TIE = 0.015
"""Bits of mean surprise: smaller differences do not decide."""


@dataclass(frozen=True, eq=False)
class Tried:
    """One intruder's posteriors, and how they compare with the true values."""

    intruder: str
    posteriors: Posteriors = field(repr=False)
    prior: Floats = field(repr=False)

    @cached_property
    def truth(self) -> Truth:
        """Surprise, trust and gain; computed on first use, since an intruder who was asked for needs no comparison."""
        return against_truth(self.posteriors, self.prior)


@dataclass(frozen=True, eq=False)
class Choice:
    """The intruders that were tried, and the one that is used."""

    used: Tried
    tried: tuple[Tried, ...]
    left_out: dict[str, str]
    """Those that were not tried, and why."""


def choose(
    names: Sequence[str], believed: Callable[[str], Posteriors], prior: Floats, left_out: dict[str, str]
) -> Choice:
    """Try each intruder; use the one with the least mean surprise T(0), and of about equal ones the simplest."""
    tried = tuple(Tried(name, believed(name), prior) for name in names)
    if len(tried) == 1:
        return Choice(tried[0], tried, left_out)
    least = min(each.truth.surprise for each in tried)
    used = next(each for each in tried if each.truth.surprise <= least + TIE)
    return Choice(used, tried, left_out)


def against_truth(posteriors: Posteriors, prior: Floats) -> Truth:
    """Surprise, trust and gain at ε = 0 of posteriors of the people's own classes (not who is certain)."""
    counts = posteriors.classes.counts
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    given = np.maximum(prior[counts.indices], LEAST)
    return hold_against_truth(
        posteriors.of_values(row, counts.indices), given, counts.data, np.ones(len(given))
    )
