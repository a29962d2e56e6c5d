"""The informed intruder's linkage: which released records are the target's, for someone who knows her class's size.

She knows the true values v of some keys, and how many people N have them. A released record r is of that class with
probability ``p_r = Π_a P(true key a = v_a | released key a of r)``, the records independently of each other. Given that
N of them are, r is one of them with probability ``π_r(N)`` (`inclusion`), and the target's with
``π_r(N) / N``. Five matching people and five records that can be theirs: no doubt is left.

Method. Records that agree on the known keys are one entry. Keys released unchanged split classes and entries into
blocks. Inside a block the classes are visited in the order of their codes; each keeps, key by key, the list of entries
that are still possible, which the next class shares as far as its codes agree. No table of pairs is made.

Cost: some 5 to 10 ns per possible pair of a class and an entry where N = 1, 60 ns otherwise, whatever N is. With more
than 2^27 such pairs (estimated on 200 classes), N is left out: ``link(r) ∝ p_r``, which is what `key_linkage` computes.
That is the limit of many classes, most of one person, and of small probabilities, where the two hardly differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from equivoc.channels.channel import DENSE_CELLS
from equivoc.errors import InputError
from equivoc.linkage.coded_file import CodedFile, Codes, Unchanged, check_range, whole_numbers
from equivoc.linkage.key_linkage import group, linkage
from equivoc.parallel import cores, over_pieces

# Which released records match, given how many do: independent Bernoulli variables conditioned on their sum.
#
# An intruder gives each released record r the probability p_r that it is of the target's class, and knows
# that the class has N people. With odds o = p/(1 − p), a set of N records is the matching one with
# probability proportional to the product of its odds, and ``π_r(N)`` is the probability that the set holds r.
# Her linkage is ``π_r(N) / N``.
#
# Method. Multiplying all odds by one number changes nothing, so choose it such that the expected sum is N
# (the tilt). Then ``π_r = p_r · P(S without r = N − 1) / P(S = N)``, and neither probability is small. Both
# are sums over the unit circle of the characteristic function (Hong 2013), with enough points to keep the
# aliasing error below 1e-16 (Bernstein's inequality) and without those where ``|φ| ≤ exp(−2σ² sin²(ω/2))`` is
# below 1e-18. Records whose tilted probability is below 1/128 enter both sums by power series, cut off below
# 1e-14. There is no other approximation: it agrees with enumeration to about 1e-12, for a thousand records as
# for three. For N = 1, π is the share of the odds.
#
# Cost: about 4 ns for each distinct record of a class with N = 1, 60 ns otherwise, and 15 to 25 points of
# some 4 ns for each of the at most 128·N records with larger probabilities.
#
# Sources: X.-H. Chen, A. P. Dempster and J. S. Liu, *Weighted finite population sampling to maximize entropy*
# (Biometrika 81, 1994); Y. Hong, *On computing the distribution function for the Poisson binomial
# distribution* (Computational Statistics & Data Analysis 59, 2013).

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Inclusion:
    """The probability of each record to be among the matching ones."""

    probabilities: Floats = field(repr=False)
    """π of each entry (of each one of its copies)."""
    missing: Floats = field(repr=False)
    """Per class, how many of its people have no released record: N − Σ π, 0 if the numbers are consistent."""
    fits: npt.NDArray[np.bool_] = field(repr=False)
    """Per class: True if some set of N records can be the matching one."""


def inclusion(
    p: npt.ArrayLike, starts: npt.ArrayLike, people: npt.ArrayLike, *, copies: npt.ArrayLike | None = None
) -> Inclusion:
    """π(N) of every entry; class c has the entries ``starts[c]`` … ``starts[c + 1] − 1`` and N = ``people[c]``.

    An entry is a record that matches with probability ``p``, or ``copies`` such records. Records with p = 1 match and
    count among the N; those with p = 0 do not match.

    If no set of N records is possible, the evidence contradicts N, and the closest consistent result is returned,
    with ``fits`` False: if more than N records are certain, N is shared among them and the others get 0; if fewer
    than N are possible, each of them gets 1, and ``missing`` is the number of people without a record.

    >>> inclusion([0.5, 0.5, 0.5, 1.0], [0, 4], [2]).probabilities.round(3).tolist()
    [0.333, 0.333, 0.333, 1.0]
    >>> inclusion([0.2, 0.2, 0.6], [0, 3], [3]).probabilities.tolist()   # three people, three records: no doubt
    [1.0, 1.0, 1.0]
    """
    from equivoc.linkage import informed_kernels as kernels

    p, starts, people, copies = _checked_chances(p, starts, people, copies)
    found, status = np.empty(len(p)), np.empty(len(people), dtype=np.int64)
    kernels.of_classes(p, starts, people, copies, found, status)
    possible = np.append(0, np.cumsum(copies * (p > 0)))
    missing = np.maximum(people - np.diff(possible[starts]), 0).astype(np.float64)
    return Inclusion(found, missing, status == kernels.FITS)


def _checked_chances(
    p: npt.ArrayLike, starts: npt.ArrayLike, people: npt.ArrayLike, copies: npt.ArrayLike | None
) -> tuple[Floats, Ints, Ints, Ints]:
    chances = np.asarray(p, dtype=np.float64)
    begins, numbers = np.asarray(starts, dtype=np.int64), np.asarray(people, dtype=np.int64)
    times = np.ones(len(chances), dtype=np.int64) if copies is None else np.asarray(copies, dtype=np.int64)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise InputError("The probabilities of a match must lie from 0 to 1.")
    if (
        begins.shape != (len(numbers) + 1,)
        or begins[0] != 0
        or begins[-1] != len(chances)
        or (np.diff(begins) < 0).any()
    ):
        raise InputError(
            f"{len(numbers)} classes need {len(numbers) + 1} ascending starts from 0 to {len(chances)}."
        )
    if times.shape != chances.shape or (times < 1).any() or (numbers < 0).any():
        raise InputError(
            "Each entry needs a number of copies of at least 1, and each class a number of people of at least 0."
        )
    return chances, begins, numbers, times


MOST_PAIRS = 2**27
"""The most pairs of a class and a distinct released record for which N is used: some 10 s at most."""
ESTIMATED_ON = 200
PAIRS_WORTH_THREADS = 2**20
"""With fewer pairs, one thread is as fast."""
CELLS_AT_A_TIME = 2**20
"""How much of the result is computed at a time: 16 MB."""


@dataclass(frozen=True, eq=False)
class InformedLinkage:
    """The linkage of an intruder who knows how many people are in each class."""

    linkage: Any = field(repr=False)
    """Classes × released confidential symbols; each row sums to 1. A CSR array where a dense one would be large."""
    exact: bool
    """False if there were too many pairs to use the sizes of the classes."""


def informed_linkage(
    classes: npt.ArrayLike,
    sizes: npt.ArrayLike,
    released: CodedFile,
    *,
    known: Sequence[int],
    may_fit_nothing: bool = False,
) -> InformedLinkage:
    """The linkage of each class of people who agree on the ``known`` keys.

    ``classes`` has a row for each class, its true codes of the known keys, and ``sizes`` how many people it has. The
    evidence of ``released`` must be P(true code | released code): each column a distribution. If the evidence
    contradicts a size, the row is that of the closest size that it allows: the records that can be of the class (fewer
    than N), or that certainly are (more than N), equally. If no record can be of a class: `InputError`, or with
    ``may_fit_nothing`` a row of zeros.

    >>> star = np.array([[1, 0, 0.5], [0, 1, 0.5]])        # released 2: either value
    >>> released = CodedFile([[0], [1], [2]], [star], confidential=[0, 1, 2], confidential_size=3)
    >>> informed_linkage([[0], [1]], [2, 1], released, known=[0]).linkage.tolist()
    [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """
    columns = list(known)
    true, people = _checked(classes, sizes, released, columns)
    if not len(people):
        return InformedLinkage(np.empty((0, released.confidential_size)), True)
    entries = _Entries.of(released, columns)
    if _pairs(true, entries) > MOST_PAIRS:
        return InformedLinkage(linkage(true, released, known=columns), False)
    return InformedLinkage(_walked(true, people, entries, released.confidential_size, may_fit_nothing), True)


def too_many_pairs(classes: npt.ArrayLike, released: CodedFile, *, known: Sequence[int]) -> bool:
    """True if there are too many pairs of a class and a released record to use the sizes of the classes."""
    columns = list(known)
    return _pairs(whole_numbers("The classes", classes), _Entries.of(released, columns)) > MOST_PAIRS


@dataclass(frozen=True, eq=False)
class _Entries:
    """The distinct combinations of the known keys' released codes."""

    codes: Codes
    """Entries × known keys."""
    copies: Codes
    evidence: tuple[Floats | Unchanged, ...]
    """Of each known key."""
    starts: Codes
    """Entry e was released with the symbols from ``starts[e]`` on, so many times each."""
    symbols: Codes
    counts: Floats

    @classmethod
    def of(cls, released: CodedFile, columns: Sequence[int]) -> _Entries:
        evidence = tuple(released.evidence[key] for key in columns)
        same = [a for a, e in enumerate(evidence) if isinstance(e, Unchanged)]
        sorted_columns = [columns[a] for a in (*same, *(a for a in range(len(columns)) if a not in same))]
        widths = [
            e.levels if isinstance(e, Unchanged) else e.shape[1]
            for e in (released.evidence[key] for key in sorted_columns)
        ]
        # Numbered by ascending codes, the unchanged keys' first: blocks are runs of entries.
        alike = group(released.keys[:, sorted_columns], tuple(range(len(columns))), widths)
        width = released.confidential_size
        cells, counts = np.unique(alike.class_of * width + released.confidential, return_counts=True)
        return cls(
            released.keys[alike.first][:, columns],
            np.bincount(alike.class_of, minlength=len(alike.first)),
            evidence,
            np.searchsorted(cells // width, np.arange(len(alike.first) + 1)),
            cells % width,
            counts.astype(np.float64),
        )

    @property
    def same(self) -> list[int]:
        """The known keys released unchanged."""
        return [a for a, e in enumerate(self.evidence) if isinstance(e, Unchanged)]

    @property
    def changed(self) -> dict[int, Floats]:
        """The other known keys' evidence."""
        return {a: e for a, e in enumerate(self.evidence) if not isinstance(e, Unchanged)}


def _pairs(true: Codes, entries: _Entries) -> float:
    """The number of possible pairs of a class and an entry, estimated on evenly spaced classes."""
    if len(true) * len(entries.codes) <= MOST_PAIRS:
        return len(true) * len(entries.codes)
    step = max(1, len(true) // ESTIMATED_ON)
    pairs = 0
    for row in true[::step]:
        fits = np.ones(len(entries.codes), dtype=bool)
        for a in entries.same:
            fits &= entries.codes[:, a] == row[a]
        for a, table in entries.changed.items():
            fits &= (table[row[a]] > 0)[entries.codes[:, a]]
        pairs += int(fits.sum())
    return pairs * len(true) / len(true[::step])


def _walked(true: Codes, people: Codes, entries: _Entries, width: int, may_fit_nothing: bool) -> Any:
    """The linkage of every class by the compiled walk; classes that need probabilities below 1e-290 by logarithms."""
    from scipy.sparse import csr_array, vstack

    from equivoc.linkage import informed_kernels as kernels

    same, changed = entries.same, entries.changed
    sizes = [e.levels for e in entries.evidence if isinstance(e, Unchanged)]
    together = np.concatenate([true[:, same], entries.codes[:, same]])
    block = group(together, tuple(range(len(same))), sizes).class_of
    home = block[len(true) :]
    keys = _order(changed, true, entries)
    order = np.lexsort([*true[:, keys[::-1]].T, block[: len(true)]])
    first, past = (np.searchsorted(home, block[: len(true)][order], side=side) for side in ("left", "right"))
    parts = [np.ascontiguousarray(changed[a], dtype=np.float64) for a in keys]
    least = [part[part > 0].min() if (part > 0).any() else 1.0 for part in parts]
    lossless = float(np.log(least).sum()) > np.log(kernels.NEGLIGIBLE)
    of_classes = (np.ascontiguousarray(true[order][:, keys].T), people[order], first, past)
    of_entries = (
        np.ascontiguousarray(entries.codes[:, keys].T, dtype=np.uint32),
        entries.copies,
        np.concatenate([np.empty(0), *(part.ravel() for part in parts)]),
        np.cumsum([0, *(part.size for part in parts)])[:-1],
        np.array([part.shape[1] for part in parts], dtype=np.int64),
        entries.starts,
        entries.symbols,
        entries.counts,
        lossless,
    )
    rows_of: dict[int, Any] = {}

    def work(part: slice) -> None:
        some = tuple(np.ascontiguousarray(each[..., part]) for each in of_classes)
        rows_of[part.start] = _rows(some, of_entries, keys=len(keys), width=width)

    pairs = len(true) * len(entries.codes)
    pieces = 2 * cores() if pairs > PAIRS_WORTH_THREADS and cores() > 1 else 1
    over_pieces(work, len(true), piece=-(-len(true) // pieces))
    found = csr_array(vstack([rows_of[begin] for begin in sorted(rows_of)]))
    lost = np.flatnonzero(np.diff(found.indptr) == 0)
    if len(lost):
        rows = [_by_logarithms(true[order[c]], int(people[order[c]]), entries, width) for c in lost]
        stranded = [int(order[c]) for c, row in zip(lost, rows, strict=True) if row is None]
        if stranded and not may_fit_nothing:
            c = min(stranded)
            raise InputError(
                f"No released record can be that of row {c} of the classes (codes {true[c].tolist()}): the file cannot "
                f"have been made from that original. Classes without a possible record: {len(stranded)}."
            )
        place = np.arange(len(true))
        place[lost] = len(true) + np.arange(len(lost))
        nothing = np.zeros((1, width))
        found = csr_array(vstack([found, *(csr_array(nothing if r is None else r) for r in rows)]))[place]
    found = found[np.argsort(order)]
    found.sort_indices()
    return found.toarray() if len(true) * width <= DENSE_CELLS else found


def _rows(of_classes: tuple[Any, ...], of_entries: tuple[Any, ...], *, keys: int, width: int) -> Any:
    """The linkage of some classes, CSR; a class that no record fits has no entries."""
    from scipy.sparse import csr_array, vstack

    from equivoc.linkage import informed_kernels as kernels

    classes, size = len(of_classes[1]), len(of_entries[1])
    columns = np.empty(max(CELLS_AT_A_TIME, width), dtype=np.int64)
    shares, pointers = np.empty(len(columns)), np.zeros(classes + 1, dtype=np.int64)
    scratch = (
        np.empty((keys + 1, size), dtype=np.uint32),
        np.empty((keys + 1, size)),
        np.zeros(keys + 1, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty((3, size)),
        np.zeros(width),
    )
    begin, done = 0, []
    while begin < classes:
        arguments = (*of_classes, *of_entries, *scratch, columns, shares, pointers)
        past_last = kernels.walk(begin, *arguments)
        filled = int(pointers[past_last])
        ends = np.append(0, pointers[begin + 1 : past_last + 1])
        done.append(
            csr_array(
                (shares[:filled].copy(), columns[:filled].copy(), ends), shape=(past_last - begin, width)
            )
        )
        begin = past_last
    return vstack(done)


def _order(changed: dict[int, Floats], true: Codes, entries: _Entries) -> list[int]:
    """The changed keys: first those that exclude most entries, then those with few levels, so that lists are shared."""

    def share(a: int) -> float:
        table = changed[a]
        levels = np.bincount(true[:, a], minlength=table.shape[0]) / len(true)
        codes = np.bincount(entries.codes[:, a], minlength=table.shape[1]) / len(entries.codes)
        return round(float(levels @ (table > 0) @ codes), 2)

    return sorted(changed, key=lambda a: (share(a), changed[a].shape[0], a))


def _by_logarithms(true: Codes, people: int, entries: _Entries, width: int) -> Floats | None:
    """The linkage of one class whose probabilities underflow, 1 × symbols; None if no record fits it."""
    fits = np.ones(len(entries.codes), dtype=bool)
    for a in entries.same:
        fits &= entries.codes[:, a] == true[a]
    logs = np.zeros(len(fits))
    for a, table in entries.changed.items():
        factor = table[true[a], entries.codes[:, a]]
        fits &= factor > 0
        logs += np.log(factor, out=np.zeros_like(factor), where=factor > 0)
    at = np.flatnonzero(fits)
    if not len(at):
        return None
    doubtful = logs[at] < 0
    odds = logs[at] - np.log1p(-np.exp(np.where(doubtful, logs[at], -1.0)))
    # Only ratios of odds count: the largest becomes 1, and those below e^−600 of it are taken as that.
    odds = np.maximum(odds - odds[doubtful].max(initial=-np.inf), -600.0)
    p = np.where(doubtful, 1 / (1 + np.exp(-odds)), 1.0)
    found = np.zeros(len(fits))
    found[at] = inclusion(p, [0, len(at)], [people], copies=entries.copies[at]).probabilities
    times = np.repeat(found, np.diff(entries.starts)) * entries.counts
    row = np.bincount(entries.symbols, times, minlength=width)
    return np.asarray(row / row.sum()).reshape(1, -1)


def _checked(
    classes: npt.ArrayLike, sizes: npt.ArrayLike, released: CodedFile, columns: list[int]
) -> tuple[Codes, Codes]:
    people = whole_numbers("The sizes of the classes", sizes)
    true = whole_numbers("The classes", classes)
    if true.shape != (len(people), len(columns)):
        raise InputError(
            f"{len(people)} sizes need as many classes with {len(columns)} columns, one per known key; the "
            f"shape of the classes is {true.shape}."
        )
    if len(people) and people.min() < 1:
        raise InputError(f"Each class needs 1 person or more; the smallest size is {people.min()}.")
    if len(set(columns)) < len(columns) or not set(columns) <= set(range(len(released.evidence))):
        raise InputError(
            f"The known keys must be different column numbers from 0 to {len(released.evidence) - 1}, not {columns}."
        )
    for a, key in enumerate(columns):
        check_range(f"The true codes of key {key}", true[:, a], released.domain_sizes[key])
        table = released.evidence[key]
        if not isinstance(table, Unchanged) and (table.sum(axis=0)[released.keys[:, key]] > 1 + 1e-6).any():
            raise InputError(
                f"The evidence of key {key} must be P(true code | released code): columns that sum to 1."
            )
    return true, people
