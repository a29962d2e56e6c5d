"""How the noise intruder's linkage is computed: one walk over all wanted subsets of the keys at once.

Noise is bounded, so a known value rules most released records out. The walk goes depth first over the keys
and carries the list of records that are still possible, with their weights. At each key it splits: not known
(one branch), known (one branch per value that occurs among the classes at hand), so that subsets which begin
alike share the work. Records are sorted by confidential rank, then last key, …, first key: those that agree
on everything still to come stand side by side and are merged in passing. After the last key a list is the
answer: one weight per confidential rank. Scratch space is one list per key. Keys with many values come first:
after them, little is left to tell records apart.

Weights are products of likelihoods, each relative to the largest of its row, and can still underflow over
many wide keys. Classes whose total is too small to trust are done again with logarithms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from equivoc.intruder.noisy_file import Codes, Matrix, NoisyFile

# Combined codes of several keys stay below this; beyond it they are renumbered before the next key joins.
LARGEST_CODE = 2**62


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
    code = np.zeros(len(true), dtype=np.int64)
    span = 1
    for key in known:
        if span * domain_sizes[key] > LARGEST_CODE:
            different, code = np.unique(code, return_inverse=True)
            span = len(different)
        code = code * domain_sizes[key] + true[:, key]
        span *= domain_sizes[key]
    _, first, class_of = np.unique(code, return_index=True, return_inverse=True)
    return Grouping(known, first, class_of)


def walk(
    true: Codes, noisy: NoisyFile, groupings: Sequence[Grouping]
) -> tuple[list[Matrix], list[tuple[int, int]]]:
    """The weights of all groupings' classes, and the (grouping, class) pairs that no released record fits."""
    from equivoc.intruder import noise_kernels

    used = set(chain.from_iterable(grouping.known for grouping in groupings))
    order = sorted(used, key=lambda key: (-noisy.domain_sizes[key], key))
    ends = np.cumsum([len(grouping.first) for grouping in groupings])
    starts = np.concatenate([[0], ends[:-1]])
    weights = np.zeros((ends[-1], noisy.confidential_size))
    untrusted = noise_kernels.walk(
        np.ascontiguousarray(true[:, order].T, dtype=np.int32),
        *_sorted_records(noisy, order),
        *_scaled_likelihoods([noisy.transitions[key] for key in order]),
        *_decisions([grouping.known for grouping in groupings], order),
        np.stack([start + grouping.class_of for start, grouping in zip(starts, groupings, strict=True)]),
        weights,
    )
    stranded = []
    if untrusted:
        for row in np.flatnonzero(~weights.any(axis=1)):
            number = int(np.searchsorted(ends, row, side="right"))
            grouping, lost = groupings[number], int(row - starts[number])
            if not _weigh_by_logarithms(true[grouping.first[lost]], grouping.known, noisy, weights[row]):
                stranded.append((number, lost))
    return np.split(weights, ends[:-1]), stranded


def _sorted_records(
    noisy: NoisyFile, order: Sequence[int]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.uint32], Matrix]:
    """The records, equal ones merged: key codes, groups, confidential ranks, and how many each stands for.

    `groups[k]` numbers the runs of records that agree on the confidential rank and on keys k, k + 1, … of
    `order`.
    """
    keys = noisy.keys[:, order].T
    sorting = np.lexsort([*keys, noisy.confidential])
    keys, confidential = keys[:, sorting], noisy.confidential[sorting]
    groups = np.empty((len(order) + 1, len(sorting)), dtype=np.int32)
    opens = np.ones(len(sorting), dtype=bool)
    opens[1:] = confidential[1:] != confidential[:-1]
    groups[-1] = np.cumsum(opens)
    for k in reversed(range(len(order))):
        opens[1:] |= keys[k, 1:] != keys[k, :-1]
        groups[k] = np.cumsum(opens)
    first = np.flatnonzero(opens)
    copies = np.diff(first, append=len(sorting)).astype(np.float64)
    # Unsigned: an index that cannot be negative spares the compiled code a check.
    return (
        np.ascontiguousarray(keys[:, first], dtype=np.uint32),
        np.ascontiguousarray(groups[:, first]),
        confidential[first].astype(np.uint32),
        copies,
    )


def _scaled_likelihoods(transitions: Sequence[Matrix]) -> tuple[Matrix, Codes, Codes]:
    """All transitions in one array, rows divided by their maximum; where each key begins; its row length."""
    scaled = [transition / transition.max(axis=1, keepdims=True) for transition in transitions]
    ends = np.cumsum([part.size for part in scaled], dtype=np.int64)
    sizes = np.array([part.size for part in scaled], dtype=np.int64)
    widths = np.array([part.shape[1] for part in scaled], dtype=np.int64)
    return np.concatenate([np.empty(0), *(part.ravel() for part in scaled)]), ends - sizes, widths


def _decisions(subsets: Sequence[tuple[int, ...]], order: Sequence[int]) -> tuple[Codes, Codes, Codes]:
    """The subsets as a tree of decisions, key by key: where "known" and "not known" lead, −1 for nowhere.

    The third array gives, at the end of a path, the number of the subset that it spells. Subsets must differ.
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


def _weigh_by_logarithms(true: Codes, known: tuple[int, ...], noisy: NoisyFile, weights: Matrix) -> bool:
    """Fill the weights of one class, however small the products; False when no released record fits it."""
    factors = [noisy.transitions[key][true[key], noisy.keys[:, key]] for key in known]
    fits = np.all([factor > 0 for factor in factors], axis=0)
    if not fits.any():
        return False
    logs = np.sum([np.log(factor[fits]) for factor in factors], axis=0)
    shares = np.bincount(noisy.confidential[fits], np.exp(logs - logs.max()), minlength=len(weights))
    weights[:] = shares / shares.sum()
    return True
