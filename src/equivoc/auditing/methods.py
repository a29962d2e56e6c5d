"""What each method of a posterior promises, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from equivoc.queries.posteriors.result import AtomPosteriors

EXACT = ("prior", "convolution", "enumeration", "dynamic programming", "counting")
"""Methods whose probabilities are exact up to rounding."""
MEANINGS = {
    "prior": "exact: no answer that is used says anything about these people; the prior stands",
    "convolution": "exact: the query sets are disjoint or nested, and sums of people are convolved",
    "enumeration": "exact: the sums that fit the answers have few free dimensions, and all are counted",
    "dynamic programming": "exact: all sums that fit the answers are counted, one group of people after the other",
    "counting": "exact: all values that fit, medians and variances included, are counted",
    "Gibbs sampling": "sampled, with a standard error that is a promise: the moves reach every database that fits",
    "Gibbs sampling, checked": "sampled; several chains from different starts agree, but it is not proved that they "
    "reach every database that fits",
    "Gibbs sampling, rough": "sampled, and not reliable: the chains do not agree. The figures are those of the chain "
    "that leaves the least uncertainty; she may know more, or less",
    "incomplete": "a MEDIAN or variance of these people, or of people linked with them, is left out. She may know more",
    "bounds": "only bounded: the work limit was reached, and the prior stands between the bounds. She may know more",
}
"""The method as `Audit.frame` names it, and what its figures promise."""


UNSETTLED = ("incomplete", "bounds", "Gibbs sampling, rough")
"""Methods whose figures may show less risk than there is: no requirement is met by them."""


def named_methods(found: AtomPosteriors) -> NDArray[Any]:
    """The method of each atom as `Audit.frame` names it."""
    named = [
        method_name(method, promised=bool(promised), left_out=bool(left_out))
        for method, promised, left_out in zip(found.method, found.promised, found.left_out, strict=True)
    ]
    return np.array(named, dtype=object)


def method_name(method: str, *, promised: bool, left_out: bool = False) -> str:
    """The name in `Audit.frame`.

    >>> method_name("Gibbs sampling", promised=False), method_name("enumeration", promised=True)
    ('Gibbs sampling, checked', 'enumeration')
    """
    if left_out:
        return "incomplete"
    return "Gibbs sampling, checked" if method == "Gibbs sampling" and not promised else method
