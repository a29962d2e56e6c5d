"""How the linkage is computed: one walk over all wanted subsets of the keys at once.

A known value excludes most released records. The walk goes depth first over the keys
with the list of records that are still possible and their weights. At each key it splits: not known
(one branch), known (one branch per value in the current classes), so that subsets with the same first keys share the
work. Records are sorted by confidential rank, then last key, …, first key: those that agree
on all remaining keys are adjacent and are merged. After the last key the list is the
result: one weight per confidential rank. Scratch space is one list per key. Keys that were released unchanged
come first, then those with many values: after them, few records still differ. The records of each
value of an unchanged first key are found beforehand.

Weights are products of evidence, each relative to the largest of its row, and can still underflow over
many wide keys. Classes with a too small total are recomputed with logarithms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from equivoc.data.counting.row_codes import row_groups
from equivoc.intruder.channel.inversion import DENSE_CELLS
from equivoc.intruder.linkage.coded_file import CodedFile, Codes, Matrix, Unchanged

# Combined codes of several keys stay below this; otherwise they are renumbered before the next key is added.


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows that agree on the known keys are one class; classes are numbered by ascending codes."""

    known: tuple[int, ...]
    """Column numbers of the known keys."""
    first: Codes
    """Of each class, the first of its rows."""
    class_of: Codes
    """Of each row, the number of its class."""


def group(true: Codes, known: tuple[int, ...], domain_sizes: Sequence[int]) -> Grouping:
    """The classes of a subset of the keys.

    >>> group(np.array([[1, 0], [0, 5], [1, 7]]), (0,), [2, 8]).class_of
    array([1, 0, 1])
    """
    found = row_groups(((true[:, key], domain_sizes[key]) for key in known), len(true))
    return Grouping(known, found.first, found.of)


def walk(
    true: Codes, released: CodedFile, groupings: Sequence[Grouping]
) -> tuple[list[Any], list[tuple[int, int]]]:
    """The weights of all groupings' classes, and the (grouping, class) pairs that no record fits.

    Tables, or CSR arrays where tables would be large.
    """
    from equivoc.intruder.linkage import linkage_kernels

    used = set(chain.from_iterable(grouping.known for grouping in groupings))
    unchanged = [isinstance(evidence, Unchanged) for evidence in released.evidence]
    order = sorted(used, key=lambda key: (not unchanged[key], -released.domain_sizes[key], key))
    ends = np.cumsum([len(grouping.first) for grouping in groupings])
    starts = np.concatenate([[0], ends[:-1]])
    begins, lengths = np.zeros((2, ends[-1]), dtype=np.int64)
    width = released.confidential_size
    dense = ends[-1] * width <= DENSE_CELLS
    table = np.zeros((ends[-1] if dense else 0, width))
    records = _sorted_records(released, order)
    picked = picks = np.empty(0, dtype=np.int64)
    if order and unchanged[order[0]]:
        picked = np.argsort(records[0][0], kind="stable")
        picks = np.searchsorted(records[0][0][picked], np.arange(released.domain_sizes[order[0]] + 1))
    ranks, shares = linkage_kernels.walk(
        np.ascontiguousarray(true[:, order].T, dtype=np.int32),
        *records,
        *_scaled_evidence([released.evidence[key] for key in order]),
        picked,
        picks,
        *_decisions([grouping.known for grouping in groupings], order),
        np.stack([start + grouping.class_of for start, grouping in zip(starts, groupings, strict=True)]),
        begins,
        lengths,
        table,
    )
    stranded = []
    for row in np.flatnonzero(lengths == 0):
        number = int(np.searchsorted(ends, row, side="right"))
        grouping, lost = groupings[number], int(row - starts[number])
        fit, share = _weigh_by_logarithms(true[grouping.first[lost]], grouping.known, released)
        if not len(fit):
            stranded.append((number, lost))
        if dense:
            table[row, fit] = share
            continue
        begins[row], lengths[row] = len(ranks), len(fit)
        ranks, shares = np.concatenate([ranks, fit]), np.concatenate([shares, share])
    if dense:
        return np.split(table, ends[:-1]), stranded
    return [
        _rows(begins[start:end], lengths[start:end], ranks, shares, width)
        for start, end in zip(starts, ends, strict=True)
    ], stranded


def _rows(begins: Codes, lengths: Codes, ranks: npt.NDArray[Any], shares: Matrix, width: int) -> Any:
    """The rows with these begins and lengths, in the order given."""
    from scipy.sparse import csr_array

    pointers = np.concatenate([[0], np.cumsum(lengths)])
    at = np.arange(pointers[-1]) + np.repeat(begins - pointers[:-1], lengths)
    return csr_array((shares[at], ranks[at].astype(np.int64), pointers), shape=(len(lengths), width))


def _sorted_records(
    released: CodedFile, order: Sequence[int]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.uint32], Matrix]:
    """The records, equal ones merged: key codes, groups, confidential ranks, and multiplicities.

    `groups[k]` numbers the runs of records that agree on the confidential rank and on keys k, k + 1, … of
    `order`.
    """
    keys = released.keys[:, order].T
    sorting = np.lexsort([*keys, released.confidential])
    keys, confidential = keys[:, sorting], released.confidential[sorting]
    groups = np.empty((len(order) + 1, len(sorting)), dtype=np.int32)
    opens = np.ones(len(sorting), dtype=bool)
    opens[1:] = confidential[1:] != confidential[:-1]
    groups[-1] = np.cumsum(opens)
    for k in reversed(range(len(order))):
        opens[1:] |= keys[k, 1:] != keys[k, :-1]
        groups[k] = np.cumsum(opens)
    first = np.flatnonzero(opens)
    copies = np.diff(first, append=len(sorting)).astype(np.float64)
    # Unsigned: saves the compiled code a check for negative indices.
    return (
        np.ascontiguousarray(keys[:, first], dtype=np.uint32),
        np.ascontiguousarray(groups[:, first]),
        confidential[first].astype(np.uint32),
        copies,
    )


def _scaled_evidence(evidence: Sequence[Matrix | Unchanged]) -> tuple[Matrix, Codes, Codes]:
    """All evidence in one array; where the first row of each key begins; how far on the next row begins.

    Rows are divided by their maximum. An unchanged key needs only one row, a 1 among zeros: the row of value v
    begins v places to the left of it.
    """
    parts, begins, widths, at = [np.empty(0)], [], [], 0
    for each in evidence:
        if isinstance(each, Unchanged):
            part = np.zeros(2 * each.levels - 1)
            part[each.levels - 1] = 1.0
            begins.append(at + each.levels - 1)
            widths.append(-1)
        else:
            largest = each.max(axis=1, keepdims=True)
            part = np.divide(each, largest, out=np.zeros_like(each), where=largest > 0).ravel()
            begins.append(at)
            widths.append(each.shape[1])
        parts.append(part)
        at += len(part)
    return np.concatenate(parts), np.array(begins, dtype=np.int64), np.array(widths, dtype=np.int64)


def _decisions(subsets: Sequence[tuple[int, ...]], order: Sequence[int]) -> tuple[Codes, Codes, Codes]:
    """The subsets as a tree of decisions, key by key: where "known" and "not known" lead, −1 for nowhere.

    The third array gives, at the end of a path, the number of its subset. Subsets must differ.
    """
    include, exclude, subset = [-1], [-1], [-1]
    for number, known in enumerate(subsets):
        node = 0
        for key in order:
            answer = include if key in known else exclude
            if answer[node] < 0:
                answer[node] = len(include)
                include.append(-1)
                exclude.append(-1)
                subset.append(-1)
            node = answer[node]
        subset[node] = number
    return np.array(include), np.array(exclude), np.array(subset)


def _weigh_by_logarithms(
    true: Codes, known: tuple[int, ...], released: CodedFile
) -> tuple[npt.NDArray[np.int32], Matrix]:
    """The possible ranks of one class and their weights, by logarithms; empty if no record fits it."""
    codes = released.keys
    fits = np.ones(len(codes), dtype=bool)
    logs = np.zeros(len(codes))
    for key in known:
        evidence = released.evidence[key]
        if isinstance(evidence, Unchanged):
            fits &= codes[:, key] == true[key]
            continue
        factor = evidence[true[key], codes[:, key]]
        fits &= factor > 0
        logs += np.log(factor, out=np.zeros_like(factor), where=factor > 0)
    ranks = np.unique(released.confidential[fits])
    if not len(ranks):
        return ranks.astype(np.int32), np.empty(0)
    weights = np.exp(logs[fits] - logs[fits].max())
    shares = np.bincount(released.confidential[fits], weights, minlength=released.confidential_size)[ranks]
    return ranks.astype(np.int32), shares / shares.sum()
