"""The chance of the intruder's best guess at one try, and its logarithms: Bayes vulnerability, min-entropies, leakage.

Shannon's entropy is about the mean number of yes/no questions she needs; these measures use the probability that her
first guess is right. All are about exact guesses and her own posterior; how often she is right is the true hit rate.
"""

from __future__ import annotations

from math import log2

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.models.of_release.posterior_figures import largest_probabilities

Floats = NDArray[np.float64]
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
