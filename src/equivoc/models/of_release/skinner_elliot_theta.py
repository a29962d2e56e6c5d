"""Skinner and Elliot's θ: the probability that a unique match is correct."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from equivoc.data.microdata import Microdata
from equivoc.intruder.release import Release
from equivoc.models.known_classes import Known, known_classes
from equivoc.models.of_release.released_table import Crossing, crossing, released_table


@dataclass(frozen=True)
class SkinnerElliot:
    """θ, and its estimate from the released file alone. All are NaN if no released record is unique."""

    theta: float
    """Pr(correct match | unique match). Lower is safer."""
    estimate: float
    """θ̂ from the released file and its size, as if it were a sample; NaN if it has more rows than the original."""
    variance: float
    """The estimated variance of θ̂ − θ."""


def skinner_elliot(people: Microdata, release: Release, *, known: Known = None) -> SkinnerElliot:
    """The probability that a match is correct, for a random original person who matches a unique released record.

    With F_j and f_j the records of the original and of the release in class j of the ``known`` keys (None: all),

        θ = Σ_j I(f_j = 1) / Σ_j F_j · I(f_j = 1).

    The numerator counts only unique records that are still in their owner's class; in a sample, all are.
    For a sample that takes each record with probability π (here n/N), n_1, n_2 and n_3 the classes of one, two and
    three of its records, and r = (1 − π)/π,

        θ̂ = π·n_1 / (π·n_1 + 2·(1 − π)·n_2),
        v(θ̂ − θ) = θ̂⁴/n_1² · (6·r²·n_3 + (2·r + 4·r²)·n_2).

    θ itself depends on the sample; to first order θ̂ − θ is θ̂²/n_1 · Σ_j [(F_j − 1)·I(f_j = 1) − 2·r·I(f_j = 2)].
    Each term has mean 0, and its variance is estimated without bias from n_2 and n_3.

    Source: C. J. Skinner and M. J. Elliot, A measure of disclosure risk for microdata, JRSS B 64 (2002), 855–867, for
    the measure and the estimator; the variance is our derivation.

    >>> import pandas as pd
    >>> from equivoc.techniques.sampling import Sampling
    >>> frame = pd.DataFrame({"age": [30, 30, 30, 41, 52, 52, 60, 60], "pay": [1, 2, 3, 4, 5, 6, 7, 8]})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> release = Sampling(fraction=0.5).release(people, 6)
    >>> release.table["age"].tolist()
    [30, 41, 60, 60]
    >>> found = skinner_elliot(people, release)
    >>> found.theta, found.estimate
    (0.5, 0.5)
    """
    table = released_table(people, release)
    return theta_of(crossing(table, known_classes(people, known).known), records=len(people))


def theta_of(classes: Crossing, *, records: int) -> SkinnerElliot:
    """θ and its estimate from counted classes; ``records`` are the original's."""
    alone = classes.released == 1
    matches = int(classes.original[alone].sum())
    theta = int(classes.own[alone & (classes.original > 0)].sum()) / matches if matches else nan
    n1, n2, n3 = (int(np.count_nonzero(classes.released == size)) for size in (1, 2, 3))
    share = int(classes.released.sum()) / records
    if n1 == 0 or share > 1:
        return SkinnerElliot(theta, nan, nan)
    estimate = share * n1 / (share * n1 + 2 * (1 - share) * n2)
    r = (1 - share) / share
    variance = estimate**4 / n1**2 * (6 * r**2 * n3 + (2 * r + 4 * r**2) * n2)
    return SkinnerElliot(theta, estimate, variance)
