"""Which noisy record is the target's: weights of the released records for every class an intruder can know.

The intruder knows the target's true values v on some keys S. Released record r is the target's with
`link(r) ∝ Π_{a in S} P(released key a of r | true key a = v_a)`. All she takes from r is its released confidential
rank, so the answer is, per class, one weight for each such rank, summing to 1; times a channel
(`binomial_noise.channel`) that is her posterior.

How it is fast. Noise is bounded, so a known value rules most records out. One walk, depth first over the keys,
carries the list of records that are still possible with their weights. At each key it splits: not known (one branch)
and known (one branch for each value that occurs among the classes at hand), so all subsets of the keys share
their beginnings. Records are sorted by confidential rank, then last key, … , first key: those that agree on everything still
to come stand side by side and are merged in passing. Lists therefore shrink by exclusion and by merging; the scratch
space is one list per key. Keys with many values go first, since after them little is left to tell records apart.

Source: Alfalayleh and Brankovic (2014), whose Algorithm 3 repeats Algorithm 2; this is our reading of its text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError

Codes = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]

# Weights held at a time while many subsets are swept: 2^23 doubles are 64 MB.
CELLS_AT_A_TIME = 2**23


@dataclass(frozen=True, eq=False)
class NoisyFile:
    """What the intruder gets, as codes: released ranks, and the noise that each key went through.

    >>> from equivoc.intruder.binomial_noise import transition
    >>> exact = transition(3, 0, edge="clip")
    >>> NoisyFile(keys=[[0], [2], [2]], transitions=[exact], confidential=[1, 0, 1], confidential_size=2).size
    3
    """

    keys: Codes
    """Records × keys: the released code of every key."""
    transitions: Sequence[Matrix]
    """Per key, P(released code | true code): true codes × released codes."""
    confidential: Codes
    """The released confidential rank of every record."""
    confidential_size: int
    """How many confidential ranks can be released."""

    def __post_init__(self) -> None:
        keys = np.asarray(self.keys, dtype=np.int64)
        confidential = np.asarray(self.confidential, dtype=np.int64)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "confidential", confidential)
        if keys.ndim != 2 or confidential.shape != keys.shape[:1]:
            raise InputError(
                f"Keys must be records × keys and the confidential ranks one per record; "
                f"their shapes are {keys.shape} and {confidential.shape}."
            )
        if len(self.transitions) != keys.shape[1]:
            raise InputError(f"{keys.shape[1]} keys need as many transitions, not {len(self.transitions)}.")
        if self.size == 0:
            raise InputError("The released file has no records, so nothing can be linked to it.")
        _check_codes("The confidential ranks", confidential, self.confidential_size)
        for key, transition in enumerate(self.transitions):
            _check_codes(f"The released codes of key {key}", keys[:, key], transition.shape[1])

    def only(self, known: Sequence[int]) -> "NoisyFile":
        """The same file without the other keys."""
        chosen = list(known)
        transitions = [self.transitions[key] for key in chosen]
        return NoisyFile(self.keys[:, chosen], transitions, self.confidential, self.confidential_size)

    @property
    def size(self) -> int:
        """The number of released records."""
        return len(self.confidential)


@dataclass(frozen=True, eq=False)
class SubsetLinkage:
    """The linkage of every class of one subset of the keys."""

    known: tuple[int, ...]
    """The keys of the subset, as column numbers."""
    classes: Codes
    """Classes × known keys: the value combinations that occur, ascending (first key first)."""
    weights: Matrix
    """Classes × released confidential ranks; each row sums to 1."""


def linkage(classes: npt.ArrayLike, noisy: NoisyFile, *, known: Sequence[int]) -> Matrix:
    """Weights of the released confidential ranks, one row per class of one subset of the keys.

    `classes` has a column of true codes for each key of `known`; its rows may come in any order and repeat.

    >>> from equivoc.intruder.binomial_noise import transition
    >>> noise = [transition(3, 2, edge="clip")]
    >>> noisy = NoisyFile(keys=[[0], [1], [2]], transitions=noise, confidential=[0, 1, 1], confidential_size=2)
    >>> linkage([[0], [1]], noisy, known=[0])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    true = np.asarray(classes, dtype=np.int64)
    held = noisy.only(known)
    _check_classes(true, held)
    everything = _group(true, tuple(range(true.shape[1])), held)
    (weights,) = _walk(true, held, [everything])
    return weights[everything.class_of]


def sweep(
    original: npt.ArrayLike, noisy: NoisyFile, *, subsets: Iterable[Sequence[int]] | None = None
) -> Iterator[SubsetLinkage]:
    """The linkage of every class of every subset of the keys (or of the given ones), subset by subset.

    `original` has a column of true codes for each key of `noisy`, a row per record or per distinct combination;
    the classes of a subset are the combinations that occur in it. Without `subsets` all 2^keys of them follow, the
    smaller ones first. Subsets are worked on together, as many as fit in a bounded amount of memory.

    >>> from equivoc.intruder.binomial_noise import transition
    >>> noise = [transition(3, 2, edge="clip")]
    >>> noisy = NoisyFile(keys=[[0], [1], [2]], transitions=noise, confidential=[0, 1, 1], confidential_size=2)
    >>> for found in sweep([[0], [1], [1]], noisy):
    ...     print(found.known, found.classes.tolist(), found.weights.round(3).tolist())
    () [[]] [[0.333, 0.667]]
    (0,) [[0], [1]] [[0.75, 0.25], [0.25, 0.75]]
    """
    true = np.asarray(original, dtype=np.int64)
    _check_classes(true, noisy)
    keys = range(noisy.keys.shape[1])
    true = true[_group(true, tuple(keys), noisy).first]
    wanted = chain.from_iterable(combinations(keys, size) for size in range(len(keys) + 1))
    batch: list[_Grouping] = []
    cells = 0
    for known in wanted if subsets is None else map(tuple, subsets):
        grouping = _group(true, known, noisy)
        new = len(grouping.first) * noisy.confidential_size + len(true)
        if batch and cells + new > CELLS_AT_A_TIME:
            yield from _linkages(true, noisy, batch)
            batch, cells = [], 0
        batch.append(grouping)
        cells += new
    if batch:
        yield from _linkages(true, noisy, batch)


@dataclass(frozen=True, eq=False)
class _Grouping:
    """Rows that agree on `known` are one class; classes count up in ascending order of their codes."""

    known: tuple[int, ...]
    first: Codes
    """Of each class, one of its rows."""
    class_of: Codes
    """Of each row, its class."""


def _group(true: Codes, known: tuple[int, ...], noisy: NoisyFile) -> _Grouping:
    code = np.zeros(len(true), dtype=np.int64)
    span = 1
    for key in known:
        size = noisy.transitions[key].shape[0]
        if span * size >= 2**62:
            code = np.unique(code, return_inverse=True)[1]
            span = len(true)
        code = code * size + true[:, key]
        span *= size
    _, first, class_of = np.unique(code, return_index=True, return_inverse=True)
    return _Grouping(known, first, class_of)


def _linkages(true: Codes, noisy: NoisyFile, groupings: Sequence[_Grouping]) -> Iterator[SubsetLinkage]:
    for grouping, weights in zip(groupings, _walk(true, noisy, groupings), strict=True):
        yield SubsetLinkage(grouping.known, true[np.ix_(grouping.first, grouping.known)], weights)


def _walk(true: Codes, noisy: NoisyFile, groupings: Sequence[_Grouping]) -> list[Matrix]:
    """The weights of every grouping's classes."""
    from equivoc.intruder import noise_kernels

    used = sorted(set(chain.from_iterable(grouping.known for grouping in groupings)))
    order = sorted(used, key=lambda key: -noisy.transitions[key].shape[0])
    ends = np.cumsum([len(grouping.first) for grouping in groupings])
    starts = ends - [len(grouping.first) for grouping in groupings]
    row = np.stack([start + grouping.class_of for start, grouping in zip(starts, groupings, strict=True)])
    scaled = [noisy.transitions[key] / noisy.transitions[key].max(axis=1, keepdims=True) for key in order]
    likelihood_ends = np.cumsum([part.size for part in scaled], dtype=np.int64)
    out = np.zeros((ends[-1], noisy.confidential_size))
    noise_kernels.walk(
        np.ascontiguousarray(true[:, order].T, dtype=np.int32),
        *_sorted_records(noisy, order),
        np.concatenate([np.zeros(0), *(part.ravel() for part in scaled)]),
        likelihood_ends - [part.size for part in scaled],
        np.array([part.shape[1] for part in scaled], dtype=np.int64),
        *_decisions([grouping.known for grouping in groupings], order),
        row,
        out,
    )
    return np.split(out, ends[:-1])


def _sorted_records(noisy: NoisyFile, order: Sequence[int]):
    """Records merged where equal on `order` and confidential rank, and for each key who agrees from there on."""
    by_key = noisy.keys[:, order].T
    rank = np.lexsort([*by_key, noisy.confidential])
    by_key, confidential = by_key[:, rank], noisy.confidential[rank]
    group = np.empty((len(order) + 1, len(rank)), dtype=np.int32)
    differs = np.ones(len(rank), dtype=bool)
    differs[1:] = confidential[1:] != confidential[:-1]
    group[-1] = np.cumsum(differs)
    for k in reversed(range(len(order))):
        differs[1:] |= by_key[k, 1:] != by_key[k, :-1]
        group[k] = np.cumsum(differs)
    (first,) = np.nonzero(differs)
    copies = np.diff(first, append=len(rank)).astype(np.float64)
    return (
        np.ascontiguousarray(by_key[:, first], dtype=np.uint32),
        np.ascontiguousarray(group[:, first]),
        confidential[first].astype(np.uint32),
        copies,
    )


def _decisions(subsets: Sequence[tuple[int, ...]], order: Sequence[int]):
    """The wanted subsets as a tree of yes-or-no decisions, key by key: where each answer leads, −1 where nowhere."""
    include, exclude, leaf = [-1], [-1], [-1]
    for number, known in enumerate(subsets):
        node = 0
        for key in order:
            answer = include if key in known else exclude
            if answer[node] < 0:
                answer[node] = len(include)
                include.append(-1)
                exclude.append(-1)
                leaf.append(-1)
            node = answer[node]
        leaf[node] = number
    return np.array(include), np.array(exclude), np.array(leaf)


def _check_codes(what: str, codes: Codes, size: int) -> None:
    if codes.size and not 0 <= codes.min() <= codes.max() < size:
        raise InputError(f"{what} run from 0 to {size - 1}; found {codes.min()} to {codes.max()}.")


def _check_classes(true: Codes, noisy: NoisyFile) -> None:
    pass
