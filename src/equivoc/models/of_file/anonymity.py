"""k-anonymity and (α,k)-anonymity: the smallest class, and the largest share of one value in a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equivoc.data.microdata import Microdata
from equivoc.models.known_classes import Known, known_classes


@dataclass(frozen=True)
class AlphaK:
    """The α and k of a file."""

    alpha: float
    """The largest share of one value in any class, at most 1. Smaller is safer."""
    k: int
    """The size of the smallest class. Larger is safer."""


def k_anonymity(people: Microdata, *, known: Known = None) -> int:
    """The size of the smallest class: each person looks like at least k − 1 others. Larger is safer.

    ``known`` are the keys that the intruder knows (None: all). A null key is a value of its own, so a person
    whose age is missing looks only like others whose age is missing. Source: Sweeney (2002), k-anonymity: a model
    for protecting privacy.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFMM") + [None], "pay": [50, 107, 77, 80, 60]})
    >>> k_anonymity(Microdata(frame, confidential="pay", keys=["sex"]))
    1
    """
    return int(known_classes(people, known).sizes.min())


def alpha_k_anonymity(people: Microdata, *, known: Known = None) -> AlphaK:
    """α, the largest share that one confidential value has in a class, and k, the smallest class's size.

        α = max over classes E and values d of |{r in E with value d}| / |E|

    The file is (α,k)-anonymous for these two and for every larger α and smaller k. α is the chance that an
    intruder who bets on a class's most frequent value is right, in the worst class. Every value of the domain counts as
    sensitive (the general model of Wong, Li, Fu and Wang (2006), (α,k)-Anonymity).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFMMM"), "pay": [50, 107, 77, 77, 80]})
    >>> found = alpha_k_anonymity(Microdata(frame, confidential="pay", keys=["sex"]))
    >>> round(found.alpha, 3), found.k
    (0.667, 2)
    """
    classes = known_classes(people, known)
    counts = classes.counts
    most = np.maximum.reduceat(counts.data, counts.indptr[:-1])
    return AlphaK(alpha=float((most / classes.sizes).max()), k=int(classes.sizes.min()))
