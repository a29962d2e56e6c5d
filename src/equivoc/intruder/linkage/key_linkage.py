"""Which released record is the target's: weights of the released records for every class an intruder can know.

The intruder knows the target's true values v on some keys S. Released record r is the target's with `link(r) ∝ Π_{a in
S} evidence_a(v_a, released key a of r)`: the evidence of each released value about the true one, such as P(true = v_a |
released), or for noise, as in the paper, P(released | true = v_a). She uses only the released confidential rank of r,
so the result is, per class, one weight for each rank, summing to 1. Multiplied by a channel it is her posterior.
`linkage_walk` describes the computation.

Source: Alfalayleh and Brankovic, *Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk*
(2014). Its Algorithm 3 repeats Algorithm 2 by mistake; this is our reading of the text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.intruder.linkage.coded_file import CodedFile, Codes, check_range, whole_numbers
from equivoc.intruder.linkage.linkage_walk import Grouping, group, walk

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

    >>> from equivoc.intruder.channel.binomial_noise import transition
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
    (weights,), stranded = walk(true, released, [grouping])
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

    >>> from equivoc.intruder.channel.binomial_noise import transition
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
    weights, stranded = walk(true, released, groupings)
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
