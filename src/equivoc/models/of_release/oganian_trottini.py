"""Risk as a decreasing function of the intruder's uncertainty: two classic functions of the posteriors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import check_choice
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.models.of_release.posterior_figures import posterior_figures

Floats = NDArray[np.float64]
CERTAIN = 1e-12
"""Uncertainty below this (in bits, or as a share of the maximum) counts as 0."""


def oganian_domingo_ferrer(posteriors: Posteriors) -> Floats:
    """1 / H(X | Y = y) of every class: the reciprocal of H0, per bit. Lower is safer; inf where she is certain.

    Source: A. Oganian and J. Domingo-Ferrer, A posteriori disclosure risk measure for tabular data based on
    conditional entropy, SORT 27 (2003), 175–190.

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFFFM"), "pay": [1, 2, 3, 4, 5]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> oganian_domingo_ferrer(Unprotected().release(people).posteriors(["sex"]))
    array([0.5, inf])
    """
    return reciprocal(posteriors.shannon())


def reciprocal(h0: Floats) -> Floats:
    """1/H0, inf where H0 is below the rounding threshold."""
    return np.asarray(np.divide(1.0, h0, out=np.full(len(h0), np.inf), where=h0 >= CERTAIN))


def trottini_fienberg(posteriors: Posteriors, *, uncertainty: str = "variance") -> Floats:
    """1 / (1 + U/U₀) of every class, from 0 to 1: 1 where she is certain. Lower is safer.

    U is her uncertainty about the confidential value: the posterior's variance, or its entropy H0. U₀ is that of a
    uniform distribution over the domain, so ½ means that the release gave no information, and units do not matter.

    Source: M. Trottini and S. E. Fienberg, Modelling user uncertainty for disclosure risk and data utility, Int. J.
    Uncertainty, Fuzziness and Knowledge-Based Systems 10 (2002), 511–527: risk is a decreasing function of the
    intruder's uncertainty. Which function is left open there; this one is ours.

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 80]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> post = Unprotected().release(people).posteriors(["sex"])
    >>> trottini_fienberg(post).round(3), trottini_fienberg(post, uncertainty="entropy").round(3)
    (array([0.334, 0.995]), array([0.667, 0.667]))
    """
    check_choice("uncertainty", uncertainty, ("variance", "entropy"))
    if uncertainty == "entropy":
        return decreasing(posteriors.shannon(), float(np.log2(len(posteriors.values))))
    if not posteriors.attribute.numeric:
        raise InputError(
            f"categories such as {posteriors.attribute.name!r} have no variance; use uncertainty='entropy'."
        )
    variance = posterior_figures(posteriors).variance
    assert variance is not None  # the attribute is numeric
    return by_variance(variance, posteriors.values)


def by_variance(variance: Floats, values: Floats) -> Floats:
    """1 / (1 + U/U₀) with U the variances of some posteriors, U₀ that of equally likely ``values``."""
    return decreasing(variance, float(np.var(values)))


def decreasing(uncertainty: Floats, without: float) -> Floats:
    """1 / (1 + U/U₀); uncertainties below the rounding threshold count as 0."""
    found = np.where(uncertainty < CERTAIN * without, 0.0, uncertainty)
    return np.ones(len(found)) if without == 0 else 1.0 / (1.0 + found / without)
