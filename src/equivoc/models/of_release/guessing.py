"""The chance of the intruder's best guess at one try, and its logarithms: Bayes vulnerability, min-entropies, leakage.

Shannon's entropy is about the mean number of yes/no questions she needs; these measures use the probability that her
first guess is right. All are about exact guesses and her own posterior; how often she is right is the true hit rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.channels.channel import Bayes
from equivoc.channels.likelihood import PublishedOrNothing
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.models.of_file.measure import Measure
from equivoc.releases.linked_release import LinkedRelease
from equivoc.releases.release import GroupedRelease, Release
from equivoc.text import bits, figure, part

# The largest probability and the variance of every class's posterior, in one pass over the posteriors.

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PosteriorFigures:
    """One number for each class."""

    largest: Floats
    """The probability of the value that she holds most likely."""
    variance: Floats | None
    """Of the confidential value; None for categories."""


def posterior_figures(posteriors: Posteriors) -> PosteriorFigures:
    """Both figures from one computation of the posteriors, which takes most of the time for a large release."""
    numeric = posteriors.attribute.numeric
    centred = posteriors.values - posteriors.values.mean() if numeric else None
    largest = np.empty(len(posteriors))
    variance = np.empty(len(posteriors)) if numeric else None
    for block in posteriors.blocks():
        largest[block.classes] = _row_maxima(block.probabilities)[block.of]
        if variance is not None and centred is not None:
            mean, square = (np.asarray(block.probabilities @ number) for number in (centred, centred**2))
            variance[block.classes] = (square - mean**2)[block.of]
    return PosteriorFigures(np.minimum(largest, 1.0), variance)


def largest_probabilities(posteriors: Posteriors) -> Floats:
    """The probability of the most likely value, of each class."""
    if not isinstance(posteriors, Posteriors):
        raise InputError(
            f"posteriors is a {type(posteriors).__name__}; get them from a release: release.posteriors(known)."
        )
    found = np.empty(len(posteriors))
    for block in posteriors.blocks():
        found[block.classes] = _row_maxima(block.probabilities)[block.of]
    return np.minimum(found, 1.0)


def _row_maxima(probabilities: Any) -> Floats:
    """Of a dense table or a CSR array without empty rows."""
    if isinstance(probabilities, np.ndarray):
        return np.asarray(probabilities.max(axis=1))
    return np.asarray(np.maximum.reduceat(probabilities.data, probabilities.indptr[:-1]))


_SUM_TOLERANCE = 1e-6


def min_entropy(posteriors: Posteriors) -> Floats:
    """−log2 max_d p(d) of every class, in bits: 0 where she is certain. Higher is safer; never more than H0.

    Source: A. Rényi, On measures of entropy and information (1961), the entropy of order ∞; as a measure of what leaks,
    G. Smith, On the foundations of quantitative information flow (FoSSaCS 2009).

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFFFMM"), "pay": [50, 50, 60, 107, 77, 77]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> min_entropy(Unprotected().release(people).posteriors(["sex"]))
    array([1., 0.])
    """
    return bits_of(largest_probabilities(posteriors))


def bayes_vulnerability(posteriors: Posteriors) -> float:
    """V = 1/n · Σ_r max_d p_r(d) over the n people: the chance that one guess is right, 0 … 1. Lower is safer.

    For a random person, if she always names the value that she holds most likely; it is the mean hit rate at ε = 0.
    Source: G. Smith, On the foundations of quantitative information flow (FoSSaCS 2009), definition 2; C. Braun,
    K. Chatzikokolakis and C. Palamidessi, Quantitative notions of leakage for one-try attacks (MFPS 2009).

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 77]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> bayes_vulnerability(Unprotected().release(people).posteriors(["sex"]))
    0.75
    """
    return mean_largest(largest_probabilities(posteriors), posteriors)


def conditional_min_entropy(posteriors: Posteriors) -> float:
    """−log2 V in bits, V the Bayes vulnerability: 0 if she is certain of everyone. Higher is safer.

    At most the mean of `min_entropy` over people: people about whom she is certain have more weight here. Source: G.
    Smith, On the foundations of quantitative information flow (FoSSaCS 2009), definition 3.

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 77]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> round(conditional_min_entropy(Unprotected().release(people).posteriors(["sex"])), 3)
    0.415
    """
    return float(bits_of(np.array([bayes_vulnerability(posteriors)]))[0])


def min_entropy_leakage(posteriors: Posteriors, *, prior: str | ArrayLike = "marginal") -> float:
    """log2 (V / V_prior) in bits: how much more often her first guess is right than without release and keys.

    V is the Bayes vulnerability and V_prior = max_d prior(d). Lower is safer. ``prior`` is "marginal" (everyone's
    distribution, taken as publicly known), "uniform", or one probability for each value of the domain. It can be
    negative if her own prior was another one: then she is less certain than someone who knows only this prior.

    It depends on the prior; for the most that a mechanism leaks under any prior see `maximal_leakage`. Sources:
    G. Smith (FoSSaCS 2009), as the difference of two min-entropies; Braun, Chatzikokolakis and Palamidessi (MFPS 2009).

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 77]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> round(min_entropy_leakage(Unprotected().release(people).posteriors(["sex"])), 3)     # from 1/2 to 3/4
    0.585
    """
    found = bayes_vulnerability(posteriors)
    return log2(found / prior_vulnerability(posteriors, prior))


def prior_vulnerability(posteriors: Posteriors, prior: str | ArrayLike) -> float:
    """The largest probability of a prior: "marginal", "uniform", or one probability for each value of the domain."""
    people, values = posteriors.classes.people, len(posteriors.values)
    if isinstance(prior, str):
        if prior == "uniform":
            return 1.0 / values
        if prior == "marginal":
            return float(np.bincount(people.codes, minlength=values).max()) / len(people)
        raise InputError(
            f"prior is {prior!r}; it must be 'marginal', 'uniform' or one probability for each value."
        )
    try:
        given = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("prior must be 'marginal', 'uniform' or one probability for each value.") from None
    if given.shape != (values,):
        raise InputError(
            f"prior has shape {given.shape}; give one probability for each of the {values:,} values."
        )
    if not (np.isfinite(given) & (given >= 0)).all() or abs(given.sum() - 1) > _SUM_TOLERANCE:
        raise InputError(f"prior sums to {given.sum():g}; give probabilities, at least 0, that sum to 1.")
    return float(given.max())


def mean_largest(largest: Floats, posteriors: Posteriors) -> float:
    """The mean over people of a class's largest probability."""
    return float(np.average(largest, weights=posteriors.sizes))


def bits_of(chances: Floats) -> Floats:
    """−log2 of chances, never below 0."""
    return np.asarray(np.maximum(-np.log2(chances), 0.0) + 0.0)


# Maximal leakage: the most information about the true value in one released value, for any prior.


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


# The measures of the intruder's best guess, each with a sentence about its value.


def guess_measures(
    posteriors: Posteriors, largest: NDArray[np.float64], release: Release | None
) -> list[Measure]:
    """Min-entropies, Bayes vulnerability and leakages; ``largest`` are the classes' largest probabilities."""
    sizes, unit = posteriors.sizes, posteriors.classes.people.confidential
    each = bits_of(largest)
    average, lowest = float(np.average(each, weights=sizes)), float(each.min())
    worst = part(int(sizes[each <= lowest + 1e-9].sum()), len(posteriors.classes.people))
    right = mean_largest(largest, posteriors)
    in_bits = float(bits_of(np.array([right]))[0])
    before = prior_vulnerability(posteriors, "marginal")
    leaked = log2(right / before)
    rows = [
        Measure(
            "min-entropy, average",
            average,
            f"Of a random person, {bits(average)} protect the exact {unit} against the intruder's best guess; "
            "more is safer.",
        ),
        Measure(
            "min-entropy, lowest",
            lowest,
            f"In the worst class her best guess of {unit} has chance {figure(2.0**-lowest)}, {bits(lowest)}: "
            f"{worst}; more is safer.",
        ),
        Measure(
            "Bayes vulnerability",
            right,
            f"With one guess she expects to be right about the exact {unit} of a random person with probability "
            f"{figure(right)}; less is safer.",
        ),
        Measure(
            "conditional min-entropy",
            in_bits,
            f"The Bayes vulnerability in bits, −log2 of it: {bits(in_bits)} protect a random person's {unit}; "
            "more is safer.",
        ),
        Measure(
            "min-entropy leakage",
            leaked,
            f"The most frequent {unit} is right with probability {figure(before)}; release and keys multiply that by "
            f"{figure(right / before)}, {bits(leaked)}, in her belief; less is safer.",
        ),
    ]
    most = log2(len(posteriors.values)) if release is None else release_leakage(release, posteriors)
    if most is not None:
        rows.append(
            Measure(
                "maximal leakage",
                most,
                f"For any prior, the released {unit} of a record multiplies the chance of her first "
                f"guess by at most {figure(2.0**most)}, {bits(most)}; less is safer.",
            )
        )
    return rows
