"""Which released record is the target's: weights of the released records for every class an intruder can know.

The intruder knows the target's true values v on some keys S. Released record r is the target's with `link(r) ∝ Π_{a in
S} evidence_a(v_a, released key a of r)`: the evidence of each released value about the true one, such as P(true = v_a |
released), or for noise, as in the paper, P(released | true = v_a). She uses only the released confidential rank of r,
so the result is, per class, one weight for each rank, summing to 1. Multiplied by a channel it is her posterior.

Source: Alfalayleh and Brankovic, *Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk*
(2014). Its Algorithm 3 repeats Algorithm 2 by mistake; this is our reading of the text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from equivoc.channels.channel import DENSE_CELLS
from equivoc.data.lattice import row_groups
from equivoc.errors import InputError
from equivoc.linkage.coded_file import CodedFile, Codes, Matrix, Unchanged, check_range, whole_numbers

# How the linkage is computed: one walk over all wanted subsets of the keys at once.
#
# A known value excludes most released records. The walk goes depth first over the keys with the list of
# records that are still possible and their weights. At each key it splits: not known (one branch), known (one
# branch per value in the current classes), so that subsets with the same first keys share the work. Records
# are sorted by confidential rank, then last key, …, first key: those that agree on all remaining keys are
# adjacent and are merged. After the last key the list is the result: one weight per confidential rank.
# Scratch space is one list per key. Keys that were released unchanged come first, then those with many
# values: after them, few records still differ. The records of each value of an unchanged first key are found
# beforehand.
#
# Weights are products of evidence, each relative to the largest of its row, and can still underflow over
# many wide keys. Classes with a too small total are recomputed with logarithms.

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


def class_weights(
    true: Codes, released: CodedFile, groupings: Sequence[Grouping]
) -> tuple[list[Any], list[tuple[int, int]]]:
    """The weights of all groupings' classes, and the (grouping, class) pairs that no record fits.

    Tables, or CSR arrays where tables would be large.
    """
    from equivoc.linkage import linkage_kernels

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


# The most weights in memory during a sweep over subsets: 2^23 doubles are 64 MB.
CELLS_AT_A_TIME = 2**23


@dataclass(frozen=True, eq=False)
class SubsetLinkage:
    """The linkage of every class of one subset of the keys."""

    known: tuple[int, ...]
    """The keys of the subset, as column numbers."""
    classes: Codes
    """Classes × known keys: the combinations of true codes that occur, ascending, the first key first."""
    weights: Any
    """Classes × released confidential ranks; each row sums to 1. A CSR array where a dense one would be large."""


def linkage(classes: npt.ArrayLike, released: CodedFile, *, known: Sequence[int]) -> Any:
    """Weights of the released confidential ranks, one row per class of one subset of the keys.

    `classes` has a column of true codes for each key of `known`; its rows may come in any order, and repeat.
    `InputError` if no released record fits a class: the file cannot come from this original.

    >>> from equivoc.channels.rank_noise import transition
    >>> released = CodedFile([[0], [1], [2]], [transition(3, 2, edge="clip")], [0, 1, 1], confidential_size=2)
    >>> linkage([[0], [1]], released, known=[0])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    columns = _subset(known, released)
    given = whole_numbers("The classes", classes)
    if given.ndim != 2 or given.shape[1] != len(columns):
        raise InputError(
            f"The classes need {len(columns)} columns, one per known key; their shape is {given.shape}."
        )
    true = np.zeros((len(given), len(released.evidence)), dtype=np.int64)
    true[:, columns] = given
    _check_true(true, released)
    if len(true) == 0:
        return np.empty((0, released.confidential_size))
    grouping = group(true, columns, released.domain_sizes)
    (weights,), stranded = class_weights(true, released, [grouping])
    if stranded:
        row = int(grouping.first[[lost for _, lost in stranded]].min())
        raise _nobody_fits(f"row {row} of the classes", columns, true[row], len(stranded))
    return weights[grouping.class_of]


def sweep(
    original: npt.ArrayLike, released: CodedFile, *, subsets: Iterable[Sequence[int]] | None = None
) -> Iterator[SubsetLinkage]:
    """The linkage of every class of every subset of the keys (or of the given ones), subset by subset.

    `original` has a column of true codes for each key of `released`, and a row per record or per distinct
    combination; the classes of a subset are the combinations that occur in it. Without `subsets` all 2^keys
    of them follow, smaller ones first. Subsets are computed together, as many as fit in a bounded memory.
    `InputError` if no released record fits a class.

    >>> from equivoc.channels.rank_noise import transition
    >>> released = CodedFile([[0], [1], [2]], [transition(3, 2, edge="clip")], [0, 1, 1], confidential_size=2)
    >>> for found in sweep([[1], [0], [1]], released):
    ...     print(found.known, found.classes.tolist(), found.weights.round(3).tolist())
    () [[]] [[0.333, 0.667]]
    (0,) [[0], [1]] [[0.75, 0.25], [0.25, 0.75]]
    """
    true = whole_numbers("The original codes", original)
    if true.ndim != 2 or true.shape[1] != len(released.evidence) or len(true) == 0:
        raise InputError(
            f"The original codes need at least one row and {len(released.evidence)} columns, one per key; "
            f"their shape is {true.shape}."
        )
    _check_true(true, released)
    keys = range(len(released.evidence))
    by_size = chain.from_iterable(combinations(keys, size) for size in range(len(keys) + 1))
    wanted = by_size if subsets is None else [_subset(known, released) for known in subsets]
    if isinstance(wanted, list) and len({frozenset(known) for known in wanted}) < len(wanted):
        raise InputError("A subset of the keys is asked for twice.")
    # Input is checked above, at the call; the computation below starts with the first `next`.
    return _sweep(true, released, wanted)


def _sweep(true: Codes, released: CodedFile, wanted: Iterable[tuple[int, ...]]) -> Iterator[SubsetLinkage]:
    finest = group(true, tuple(range(true.shape[1])), released.domain_sizes)
    true = true[finest.first]
    batch: list[Grouping] = []
    cells = 0
    for known in wanted:
        grouping = group(true, known, released.domain_sizes)
        more = len(grouping.first) * released.confidential_size + len(true)
        if batch and cells + more > CELLS_AT_A_TIME:
            yield from _together(true, released, batch)
            batch, cells = [], 0
        batch.append(grouping)
        cells += more
    if batch:
        yield from _together(true, released, batch)


def _together(true: Codes, released: CodedFile, groupings: Sequence[Grouping]) -> Iterator[SubsetLinkage]:
    weights, stranded = class_weights(true, released, groupings)
    if stranded:
        number, lost = stranded[0]
        known, row = groupings[number].known, groupings[number].first[lost]
        raise _nobody_fits(f"class {lost} of the known keys {list(known)}", known, true[row], len(stranded))
    for grouping, of_classes in zip(groupings, weights, strict=True):
        yield SubsetLinkage(grouping.known, true[grouping.first][:, grouping.known], of_classes)


def _subset(known: Sequence[int], released: CodedFile) -> tuple[int, ...]:
    columns = tuple(int(key) for key in known)
    if len(set(columns)) < len(columns) or not set(columns) <= set(range(len(released.evidence))):
        raise InputError(
            f"The known keys must be different column numbers from 0 to {len(released.evidence) - 1}, "
            f"not {list(columns)}."
        )
    return columns


def _check_true(true: Codes, released: CodedFile) -> None:
    for key, size in enumerate(released.domain_sizes):
        check_range(f"The true codes of key {key}", true[:, key], size)


def _nobody_fits(which: str, known: tuple[int, ...], true: Codes, how_many: int) -> InputError:
    return InputError(
        f"No released record can be that of {which} (codes {true[list(known)].tolist()}): the "
        f"file cannot have been made from that original. Classes without a possible record: {how_many}."
    )
