"""k-anonymity and (α,k)-anonymity: the smallest class, and the largest share of one value in a class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.attribute import Nested
from equivoc.checks import check_choice, checked_number
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.data.missing_keys import OWN, matches
from equivoc.errors import InputError
from equivoc.models.of_file.measure import Known, known_classes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class AlphaK:
    """The α and k of a file."""

    alpha: float
    """The largest share of one value in any class, at most 1. Smaller is safer."""
    k: int
    """The size of the smallest class. Larger is safer."""


def k_anonymity(people: Microdata, *, known: Known = None, missing_keys: str = OWN) -> int:
    """The size of the smallest class: each person looks like at least k − 1 others. Larger is safer.

    ``known`` are the keys that the intruder knows (None: all). A null key is a value of its own, so a person
    whose age is missing looks only like others whose age is missing; with ``missing_keys="any"`` it matches any value,
    as in sdcMicro, so that she looks like everyone with her other keys, and they look like her. Source: Sweeney
    (2002), k-anonymity: a model for protecting privacy.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFMM") + [None], "pay": [50, 107, 77, 80, 60]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> k_anonymity(people), k_anonymity(people, missing_keys="any")
    (1, 3)
    """
    return int(matches(known_classes(people, known), missing_keys).sizes.min())


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


# l-diversity: how many confidential values remain possible in each class.

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


# t-closeness: the largest distance between the distribution in a class and that of the whole file.

DISTANCES = ("ordered", "equal", "tree")


def t_closeness(people: Microdata, *, known: Known = None, distance: str | None = None) -> float:
    """The largest earth mover's distance between a class's values and all people's: 0 … 1. Smaller is safer.

    With p the class's shares, q everyone's, and d_1 < … < d_m the domain D (`people.values`),

    - ``distance="ordered"``: 1/(m−1) · Σ_i |Σ_(j≤i) (p_j − q_j)|: mass moves from rank to rank, and the whole way
      from d_1 to d_m costs 1;
    - ``distance="equal"``: ½ · Σ_i |p_i − q_i|: every move costs 1;
    - ``distance="tree"``: with H the height of the hierarchy, a move between two values costs h/H, h the height of
      their lowest common ancestor: 1/(2H) · Σ_(h<H) Σ_g |p_g − q_g|, g the ancestors at height h.

    None means "ordered" for numbers and ordered categories, "tree" for all others (without a hierarchy: "equal").

    m counts every value of D, also one that nobody has; a domain that was not given is the values that occur, as in
    the paper. With one value in D the distance is 0. Source: Li, Li and Venkatasubramanian (2007), t-Closeness:
    privacy beyond k-anonymity and l-diversity, section 5.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"class": list("aaabbbccc"), "pay": [3, 4, 5, 6, 8, 11, 7, 9, 10]})
    >>> t_closeness(Microdata(frame, confidential="pay", keys=["class"]))
    0.375
    """
    classes = known_classes(people, known)
    attribute = people.attribute
    if distance is None:
        distance = "ordered" if attribute.ordered else "tree"
    check_choice("distance", distance, DISTANCES)
    if (distance == "ordered") > attribute.ordered or (distance == "tree") > (not attribute.ordered):
        lacks = "no order" if distance == "ordered" else "no hierarchy"
        raise InputError(
            f"distance is {distance!r}, but {people.confidential!r} has {lacks}; choose another."
        )
    return min(1.0, float(distances(classes, distance).max()))


def distances(classes: Classes, distance: str) -> NDArray[np.float64]:
    """The distance of each class from everyone."""
    geometry = classes.people.attribute.geometry
    if distance == "tree" and isinstance(geometry, Nested):
        return _tree(classes, geometry)
    counts = classes.counts
    everyone = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1]).astype(np.float64)
    if everyone.size == 1:
        return np.zeros(len(classes))
    return _ordered(classes, everyone) if distance == "ordered" else _equal(classes, counts, everyone)


def _equal(classes: Classes, counts: csr_array, everyone: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the L1 distance is the excess of the class, and only values that occur in the class can be in excess."""
    share = counts.data / np.repeat(classes.sizes, np.diff(counts.indptr))
    above = np.maximum(share - everyone[counts.indices] / len(classes.people), 0.0)
    return np.asarray(np.add.reduceat(above, counts.indptr[:-1]))


def _tree(classes: Classes, geometry: Nested) -> NDArray[np.float64]:
    """The mean over the heights below the root of half the L1 distance between ancestors' shares."""
    from scipy.sparse import csr_array

    found, counts = np.zeros(len(classes)), classes.counts
    for groups in geometry.groups[: geometry.height]:
        shape = (len(classes), int(groups.max()) + 1)
        merged = csr_array((counts.data, groups[counts.indices], counts.indptr), shape=shape, copy=True)
        merged.sum_duplicates()
        everyone = np.bincount(merged.indices, weights=merged.data, minlength=shape[1]).astype(np.float64)
        found += _equal(classes, merged, everyone)
    return np.asarray(found / max(geometry.height, 1))


def _ordered(classes: Classes, everyone: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ |class's cumulative share − everyone's| / (m − 1), in time proportional to the values in the class.

    Between two values of a class its cumulative share is constant while everyone's increases: first below it, then
    above. So each interval of the domain needs two sums of everyone's cumulative shares, which are tabulated.
    """
    counts, domain = classes.counts, everyone.size
    starts, values = counts.indptr[:-1], np.diff(counts.indptr)
    total = np.cumsum(everyone)
    table = np.concatenate([[0.0], np.cumsum(total)])
    # An interval begins at each value of the class and ends before its next value, the last at the end of D.
    begin = counts.indices.astype(np.int64)
    end = np.append(begin[1:], domain)
    end[counts.indptr[1:] - 1] = domain
    inclusive = np.cumsum(counts.data)
    reached = inclusive - np.repeat(inclusive[starts] - counts.data[starts], values)
    level = reached * (len(classes.people) / np.repeat(classes.sizes, values))
    cross = np.clip(np.searchsorted(total, level), begin, end)
    below = level * (cross - begin) - (table[cross] - table[begin])
    above = (table[end] - table[cross]) - level * (end - cross)
    # Before its first value the cumulative share of the class is 0.
    moved = np.add.reduceat(below + above, starts) + table[begin[starts]]
    return np.asarray(moved / (len(classes.people) * (domain - 1)))
