"""Maximal leakage: the most information about the true value in one released value, for any prior."""

from __future__ import annotations

from math import log2

import numpy as np
from numpy.typing import ArrayLike

from equivoc.errors import InputError
from equivoc.intruder.channel.channel import Bayes
from equivoc.intruder.channel.likelihood import PublishedOrNothing
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.release import GroupedRelease, Release

_SUM_TOLERANCE = 1e-6


def maximal_leakage(channel: Release | ArrayLike) -> float:
    """log2 Σ_y max_x P(y | x) in bits: x the true confidential value, y the released value of the same record.

    0: the release does not depend on the value; log2 of the number of values: the value is released. Lower is safer.
    For any prior, and for every function of the value that an intruder may want to guess, the released value of a
    record multiplies the chance of a right first guess by at most 2 to this power. So it is an upper bound of the
    min-entropy leakage from that record, reached with a uniform prior.

    ``channel`` is a release whose mechanism has known probabilities (the value itself, a sample, noise, PRAM, swapping,
    rounding, coding), or a table of P(y | x) with a row for each x and a column for each y. It is about the
    confidential value of one record: it ignores the uncertainty about which record is the target's, and what other
    records reveal.

    Sources: Braun, Chatzikokolakis and Palamidessi (MFPS 2009), the greatest leakage over all priors; I. Issa,
    A. B. Wagner and S. Kamath, An operational approach to information leakage, IEEE Trans. Information Theory 66
    (2020), theorem 1.

    >>> round(maximal_leakage([[0.75, 0.25], [0.25, 0.75]]), 3)         # log2 1.5
    0.585
    >>> maximal_leakage([[1, 0, 0], [0, 1, 0], [0, 1, 0]])               # two of three values are merged
    1.0
    """
    if isinstance(channel, Release):
        found = release_leakage(channel)
        if found is None:
            raise InputError(
                "the probabilities P(released | true) of this release are not known; give them as a "
                "table with a row for each true value."
            )
        return found
    return _of_table(channel)


def release_leakage(release: Release, posteriors: Posteriors | None = None) -> float | None:
    """The maximal leakage of one released record; None if the mechanism's probabilities are not known.

    ``posteriors`` are any posteriors of the release that were computed before.
    """
    people, values = release.people, len(release.people.values)
    if isinstance(release, LinkedRelease):
        channel = release.confidential.channel
    elif isinstance(release, GroupedRelease):
        channel = release.channel
    else:
        posteriors = release.posteriors([]) if posteriors is None else posteriors
        channel = posteriors.channel
        if channel is None and not np.issubdtype(posteriors.linkage.dtype, np.integer):
            return None  # weights of values by other means than counting them
    if channel is None:
        return log2(values)
    if not isinstance(channel, Bayes):
        return None
    if isinstance(channel.likelihood, PublishedOrNothing):
        origins = release.origins
        drawn = len(people) if origins is None else len(origins)
        return log2(1 + (values - 1) * (drawn / len(people)))
    peaks = channel.likelihood.peaks()
    return None if peaks is None else max(0.0, log2(float(peaks.sum())))


def _of_table(table: ArrayLike) -> float:
    try:
        chances = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "channel must be a release, or a table of probabilities P(released | true)."
        ) from None
    if chances.ndim != 2 or chances.size == 0:
        raise InputError(
            f"channel has shape {chances.shape}; give a table with a row for each true value and a column for each "
            "released one."
        )
    wrong = np.flatnonzero(~(np.isfinite(chances) & (chances >= 0)).all(axis=1))
    if not wrong.size:
        wrong = np.flatnonzero(np.abs(chances.sum(axis=1) - 1) > _SUM_TOLERANCE)
    if wrong.size:
        raise InputError(
            f"row {wrong[0]} (counting from 0) of channel sums to {chances[wrong[0]].sum():g}; "
            "give probabilities, at least 0, that sum to 1 in each row."
        )
    return max(0.0, log2(float(chances.max(axis=0).sum())))
