"""l-diversity: how many confidential values remain possible in each class."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import check_choice, checked_number
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.known_classes import Known, known_classes

KINDS = ("distinct", "entropy", "recursive")


def l_diversity(
    people: Microdata, *, known: Known = None, kind: str = "distinct", c: float | None = None
) -> int | float:
    """The largest l for which every class is l-diverse. Larger is safer; 1 means that some class has a single value.

    - ``kind="distinct"``: every class has at least l different values (an int).
    - ``"entropy"``: −Σ p log p ≥ log l in every class, so l = 2^H with H the least entropy of a class in bits, the
      smallest H0 of the file published as it is (a float, rounded to 12 decimals: three equally frequent values
      are exactly 3.0).
    - ``"recursive"``: r_1 < c · (r_l + r_(l+1) + … + r_m) in every class, r_1 ≥ r_2 ≥ … ≥ r_m the counts of its m
      values: even if an intruder can rule out the l − 2 next most frequent values, the most frequent is not dominant.
      ``c`` must be given. Any file is (c,1)-diverse (an int).

    Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), l-Diversity: privacy beyond k-anonymity,
    definitions 4.1 and 4.3.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFMMM"), "pay": [50, 107, 77, 77, 80]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> l_diversity(people), round(l_diversity(people, kind="entropy"), 2)
    (2, 1.89)
    >>> l_diversity(people, kind="recursive", c=2), l_diversity(people, kind="recursive", c=3)
    (1, 2)
    """
    check_choice("kind", kind, KINDS)
    if c is not None and kind != "recursive":
        raise InputError(f"c is {c!r}, but only kind='recursive' has a c; leave it out for kind={kind!r}.")
    classes = known_classes(people, known)
    if kind == "distinct":
        return int(np.diff(classes.counts.indptr).min())
    if kind == "entropy":
        return float(np.round(np.exp2(_entropies(classes).min()), 12))
    return int(_recursive(classes, _checked_c(c)).min())


def _checked_c(c: float | None) -> float:
    if c is None:
        raise InputError("kind='recursive' needs c, the factor in r_1 < c · (r_l + … + r_m); give c=3, say.")
    return checked_number("c", c, "a finite number above 0", lambda x: 0 < x < math.inf)


def _entropies(classes: Classes) -> NDArray[np.float64]:
    """H0 of each class in bits: log2 n − (Σ count · log2 count) / n."""
    counts = classes.counts
    terms = counts.data * np.log2(counts.data)
    return np.asarray(np.log2(classes.sizes) - np.add.reduceat(terms, counts.indptr[:-1]) / classes.sizes)


def _recursive(classes: Classes, c: float) -> NDArray[np.int64]:
    """The largest l of each class for which it is recursive (c,l)-diverse."""
    counts = classes.counts
    starts = counts.indptr[:-1]
    values = np.diff(counts.indptr)
    # One sort orders the counts within every class: by class, then by count, largest first.
    bits = int(counts.data.max()).bit_length()
    most = (1 << bits) - 1
    of_cell = np.repeat(np.arange(len(classes), dtype=np.int64), values)
    ranked = most - (np.sort(of_cell << bits | (most - counts.data)) & most)
    before = np.cumsum(ranked) - ranked
    tail = np.repeat(before[starts] + classes.sizes, values) - before
    # The tails r_l + … + r_m decrease with l, so the sufficient ones come first.
    enough = np.repeat(ranked[starts], values) < c * tail
    return np.maximum(np.add.reduceat(enough.astype(np.int64), starts), 1)
