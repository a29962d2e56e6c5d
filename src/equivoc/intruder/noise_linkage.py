"""Which noisy record is the target's: weights of the released records for every class an intruder can know.

The intruder knows the target's true values v on some keys S. Released record r is the target's with
`link(r) ∝ Π_{a in S} P(released key a of r | true key a = v_a)`. All she takes from r is its released
confidential rank, so the answer is, per class, one weight for each such rank, summing to 1. Multiplied by a
channel (`binomial_noise.channel`) it is her posterior. `noise_walk` says how it is computed.

Source: Alfalayleh and Brankovic, *Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk*
(2014). Its Algorithm 3 repeats Algorithm 2 by mistake; this is our reading of the text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.intruder.noise_walk import Grouping, group, walk
from equivoc.intruder.noisy_file import Codes, Matrix, NoisyFile, check_range, whole_numbers

# Weights held at a time while many subsets are swept: 2^23 doubles are 64 MB.
CELLS_AT_A_TIME = 2**23


@dataclass(frozen=True, eq=False)
class SubsetLinkage:
    """The linkage of every class of one subset of the keys."""

    known: tuple[int, ...]
    """The keys of the subset, as column numbers."""
    classes: Codes
    """Classes × known keys: the combinations of true codes that occur, ascending, the first key first."""
    weights: Matrix
    """Classes × released confidential ranks; each row sums to 1."""


def linkage(classes: npt.ArrayLike, noisy: NoisyFile, *, known: Sequence[int]) -> Matrix:
    """Weights of the released confidential ranks, one row per class of one subset of the keys.

    `classes` has a column of true codes for each key of `known`; its rows may come in any order, and repeat.
    `InputError` if no released record fits a class: noise cannot have made this file from such an original.

    >>> from equivoc.intruder.binomial_noise import transition
    >>> noisy = NoisyFile([[0], [1], [2]], [transition(3, 2, edge="clip")], [0, 1, 1], confidential_size=2)
    >>> linkage([[0], [1]], noisy, known=[0])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    columns = _subset(known, noisy)
    given = whole_numbers("The classes", classes)
    if given.ndim != 2 or given.shape[1] != len(columns):
        raise InputError(
            f"The classes need {len(columns)} columns, one per known key; their shape is {given.shape}."
        )
    true = np.zeros((len(given), len(noisy.transitions)), dtype=np.int64)
    true[:, columns] = given
    _check_true(true, noisy)
    if len(true) == 0:
        return np.empty((0, noisy.confidential_size))
    grouping = group(true, columns, noisy.domain_sizes)
    (weights,), stranded = walk(true, noisy, [grouping])
    if stranded:
        row = int(grouping.first[[lost for _, lost in stranded]].min())
        raise _nobody_fits(f"row {row} of the classes", columns, true[row], len(stranded))
    return weights[grouping.class_of]


def sweep(
    original: npt.ArrayLike, noisy: NoisyFile, *, subsets: Iterable[Sequence[int]] | None = None
) -> Iterator[SubsetLinkage]:
    """The linkage of every class of every subset of the keys (or of the given ones), subset by subset.

    `original` has a column of true codes for each key of `noisy`, and a row per record or per distinct
    combination; the classes of a subset are the combinations that occur in it. Without `subsets` all 2^keys
    of them follow, the smaller ones first. Subsets are worked on together, as many as a bounded memory holds.
    `InputError` if no released record fits a class.

    >>> from equivoc.intruder.binomial_noise import transition
    >>> noisy = NoisyFile([[0], [1], [2]], [transition(3, 2, edge="clip")], [0, 1, 1], confidential_size=2)
    >>> for found in sweep([[1], [0], [1]], noisy):
    ...     print(found.known, found.classes.tolist(), found.weights.round(3).tolist())
    () [[]] [[0.333, 0.667]]
    (0,) [[0], [1]] [[0.75, 0.25], [0.25, 0.75]]
    """
    true = whole_numbers("The original codes", original)
    if true.ndim != 2 or true.shape[1] != len(noisy.transitions) or len(true) == 0:
        raise InputError(
            f"The original codes need at least one row and {len(noisy.transitions)} columns, one per key; "
            f"their shape is {true.shape}."
        )
    _check_true(true, noisy)
    keys = range(len(noisy.transitions))
    by_size = chain.from_iterable(combinations(keys, size) for size in range(len(keys) + 1))
    wanted = by_size if subsets is None else [_subset(known, noisy) for known in subsets]
    if isinstance(wanted, list) and len({frozenset(known) for known in wanted}) < len(wanted):
        raise InputError("A subset of the keys is asked for twice.")
    # What is wrong with the input is said above, at the call; the work below waits for the first `next`.
    return _sweep(true, noisy, wanted)


def _sweep(true: Codes, noisy: NoisyFile, wanted: Iterable[tuple[int, ...]]) -> Iterator[SubsetLinkage]:
    finest = group(true, tuple(range(true.shape[1])), noisy.domain_sizes)
    true = true[finest.first]
    batch: list[Grouping] = []
    cells = 0
    for known in wanted:
        grouping = group(true, known, noisy.domain_sizes)
        more = len(grouping.first) * noisy.confidential_size + len(true)
        if batch and cells + more > CELLS_AT_A_TIME:
            yield from _together(true, noisy, batch)
            batch, cells = [], 0
        batch.append(grouping)
        cells += more
    if batch:
        yield from _together(true, noisy, batch)


def _together(true: Codes, noisy: NoisyFile, groupings: Sequence[Grouping]) -> Iterator[SubsetLinkage]:
    weights, stranded = walk(true, noisy, groupings)
    if stranded:
        number, lost = stranded[0]
        known, row = groupings[number].known, groupings[number].first[lost]
        raise _nobody_fits(f"class {lost} of the known keys {list(known)}", known, true[row], len(stranded))
    for grouping, of_classes in zip(groupings, weights, strict=True):
        yield SubsetLinkage(grouping.known, true[grouping.first][:, grouping.known], of_classes)


def _subset(known: Sequence[int], noisy: NoisyFile) -> tuple[int, ...]:
    columns = tuple(int(key) for key in known)
    if len(set(columns)) < len(columns) or not set(columns) <= set(range(len(noisy.transitions))):
        raise InputError(
            f"The known keys must be different column numbers from 0 to {len(noisy.transitions) - 1}, "
            f"not {list(columns)}."
        )
    return columns


def _check_true(true: Codes, noisy: NoisyFile) -> None:
    for key, size in enumerate(noisy.domain_sizes):
        check_range(f"The true codes of key {key}", true[:, key], size)


def _nobody_fits(which: str, known: tuple[int, ...], true: Codes, how_many: int) -> InputError:
    return InputError(
        f"No released record can be that of {which} (codes {true[list(known)].tolist()}): the noise cannot "
        f"have made this file from that original. Classes without a possible record: {how_many}."
    )
