"""t-closeness: the largest distance between the distribution in a class and that of the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import check_choice
from equivoc.attributes.geometry import Nested
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.known_classes import Known, known_classes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
