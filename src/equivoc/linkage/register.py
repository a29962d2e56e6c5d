"""The register intruder: she knows the keys of everybody, so a record that certainly belongs to another is excluded.

``P(released record r | person i)`` is a product over the keys of ``P(released symbol | true level)``. The unknown is
an assignment of each person to one record; scaling the rows and columns of the likelihoods until all of
them sum to 1 (Sinkhorn) estimates the share of assignments, weighted by likelihood, that assign r to i. It is less
certain than the exact result, a quotient of permanents, which cannot be computed for more than a few dozen people.

More people than records (a sample): the missing number of blank records is added, which fit everybody equally; a
person's share of them is the probability that she is not in the release (``unreleased``). More records than people: the
missing number of strangers is added, who fit a record as the average person does.

Method. People with equal known keys are one column with a multiplicity, equal released records one row. Keys
released unchanged split the matrix into blocks, and the most informative changed key limits each block to a band: a
record keeps a run of people, in single precision; sums are doubles. One pass over the pairs updates rows and columns.

Cost: 4 bytes for each pair kept, 2^28 pairs (1 GiB) at most; per pair some 1 ns per key, and 0.6 ns per step. 10,000
people with six keys, all changed by PRAM: 100,000,000 pairs, 99 steps, 6 s, 0.6 GB; by noise of 20 %: 607 steps, 9 s.

Sources: R. Sinkhorn, *A relationship between arbitrary positive matrices and doubly stochastic matrices* (Annals of
Mathematical Statistics 35, 1964); P. A. Knight, *The Sinkhorn–Knopp algorithm: convergence and applications* (SIAM J.
Matrix Analysis 30, 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.linkage.coded_file import CodedFile, Codes, Unchanged
from equivoc.linkage.key_linkage import group

Floats = npt.NDArray[np.float64]
MOST_PAIRS = 2**28
"""The most pairs of a record and a person, and the most cells of the result (people × symbols)."""
STEPS = 2000
SETTLED = 3e-4
"""The scaling stops when the mean error of a person's sum is below this. Stopping at three times this value gave
0.0002 (PRAM) to 0.0007 bit (noise) more surprise for 10,000 people."""


@dataclass(frozen=True, eq=False)
class RegisterLinkage:
    """The linkage of an intruder with a register of everybody's keys."""

    linkage: Floats = field(repr=False)
    """Classes × released confidential symbols; with ``unreleased`` each row sums to 1."""
    unreleased: Floats = field(repr=False)
    """Per class, the probability that one of its people has no released record."""
    errors: tuple[float, ...] = field(repr=False)
    """After each step, the mean error of a person's sum; it never increases."""
    settled: bool
    """True if the error fell below the tolerance."""


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The likelihoods of the pairs that are possible; arrays of `register_kernels`."""

    likelihood: npt.NDArray[np.float32]
    begin: Codes
    first: Codes
    length: Codes


def register_linkage(
    classes: npt.ArrayLike,
    sizes: npt.ArrayLike,
    released: CodedFile,
    *,
    known: Sequence[int],
    tolerance: float = SETTLED,
    steps: int = STEPS,
) -> RegisterLinkage:
    """The linkage of each class of people who agree on the ``known`` keys.

    ``classes`` has a row for each class, its true codes of the known keys, and ``sizes`` how many people it has:
    together they are the register. The evidence of ``released`` must be P(released | true), or a constant multiple
    of it per released symbol; its rows need to be distributions only if people and records differ in number.
    `InputError` if a person fits no record (and the release is not a sample), if a record fits nobody, or if there
    are too many pairs.

    >>> flip = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> released = CodedFile([[0], [0]], [flip], confidential=[0, 1], confidential_size=2)
    >>> register_linkage([[0], [1]], [1, 1], released, known=[0]).linkage.round(3).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    from equivoc.linkage import register_kernels as kernels

    people = np.asarray(sizes, dtype=np.float64)
    true = np.asarray(classes, dtype=np.int64).reshape(len(people), len(known))
    columns = list(known)
    widths = [
        e.levels if isinstance(e, Unchanged) else e.shape[1] for e in (released.evidence[k] for k in columns)
    ]
    alike = group(released.keys[:, columns], tuple(range(len(columns))), widths)
    codes = released.keys[alike.first][:, columns]
    records = np.bincount(alike.class_of, minlength=len(codes)).astype(np.float64)
    if len(true) * released.confidential_size > MOST_PAIRS:
        raise _too_large(len(true), released.confidential_size, "released values")
    order, pairs = _pairs(true, codes, released, columns, people)
    people = people[order]
    blanks = max(0.0, people.sum() - records.sum())
    extra = max(0.0, records.sum() - people.sum())
    parts = (pairs.likelihood, pairs.begin, pairs.first, pairs.length)
    stranger = kernels.row_sums(*parts, people) / people.sum()
    if not stranger.all():
        lost = int(np.argmin(stranger))
        raise InputError(
            f"Nobody in the register fits {int(records[lost])} released records with the codes "
            f"{codes[lost].tolist()}: the file cannot have been made from these people."
        )
    if not extra:
        stranger = np.zeros(len(stranger))
    scale, of_strangers = np.ones(len(people)), 1.0
    by_record, by_person = np.empty(len(records)), np.empty(len(people))
    errors: list[float] = []
    settled = False
    for _ in range(steps):
        weight = people * scale
        sum_of_strangers = kernels.scale_once(
            *parts, records, stranger, extra * of_strangers, weight, by_record, by_person
        )
        blank = blanks / weight.sum()
        if not (by_person + blank).all():
            lost = int(order[np.argmin(by_person)])
            raise InputError(f"No released record can be that of class {lost} (codes {true[lost].tolist()}).")
        sums = scale * (by_person + blank)
        if errors or not blanks:  # the first sums belong to arbitrary initial scales
            errors.append(float(people @ np.abs(sums - 1) / people.sum()))
            settled = errors[-1] < tolerance
        stuck = len(errors) > 1 and errors[-1] > errors[-2] * (1 + 1e-9)
        if (
            settled or stuck
        ):  # in exact arithmetic the error never increases; if it does, only rounding error is left
            break
        scale = 1.0 / (by_person + blank)
        if extra:
            of_strangers = 1.0 / sum_of_strangers
    symbols = np.zeros((released.confidential_size, len(people)))
    kernels.gather(*parts, by_record, *_symbol_counts(alike.class_of, released), symbols)
    linkage, unreleased = np.empty(symbols.T.shape), np.empty(len(people))
    linkage[order] = (symbols * (scale / sums)).T
    unreleased[order] = scale * blank / sums
    return RegisterLinkage(linkage, unreleased, tuple(errors), settled)


def _pairs(
    true: Codes, codes: Codes, released: CodedFile, columns: Sequence[int], people: Floats
) -> tuple[Codes, _Pairs]:
    """The order in which people are laid out, and each record's run of them with its likelihoods."""
    from equivoc.linkage import register_kernels as kernels

    evidence = [released.evidence[key] for key in columns]
    same = [a for a, e in enumerate(evidence) if isinstance(e, Unchanged)]
    tables = {a: e.T for a, e in enumerate(evidence) if not isinstance(e, Unchanged)}  # symbols × levels
    band, limits = _band(tables, true, codes, people)
    together = np.concatenate([true[:, same], codes[:, same]])
    block = group(
        together, tuple(range(len(same))), [released.domain_sizes[columns[a]] for a in same]
    ).class_of
    levels = 1 if band is None else tables[band].shape[1]
    place = block[: len(true)] * levels + (0 if band is None else true[:, band])
    order = np.argsort(place, kind="stable")
    home = block[len(true) :] * levels
    low, high = (0, 0) if band is None else limits[:, codes[:, band]]
    first = np.searchsorted(place[order], home + low)
    length = np.maximum(np.searchsorted(place[order], home + high, side="right") - first, 0)
    total = int(length.sum())
    if total > MOST_PAIRS:
        raise _too_large(len(true), len(codes), "distinct released records", pairs=total)
    begin = np.cumsum(length) - length
    # A record's likelihoods relative to the largest of each key: single precision then does not underflow.
    scaled = {a: table / np.maximum(table.max(axis=1, keepdims=True), 1e-300) for a, table in tables.items()}
    ends = np.cumsum([0, *(table.size for table in scaled.values())])
    row = np.empty((len(codes), len(scaled)), dtype=np.int64)
    for number, (a, table) in enumerate(scaled.items()):
        row[:, number] = ends[number] + codes[:, a] * table.shape[1]
    flat = np.concatenate([np.empty(0), *(table.ravel() for table in scaled.values())]).astype(np.float32)
    sorted_levels = np.ascontiguousarray(true[order][:, list(scaled)].T, dtype=np.int32)
    likelihood = np.empty(total, dtype=np.float32)
    kernels.fill(likelihood, begin, first, length, row, flat, sorted_levels)
    return order, _Pairs(likelihood, begin, first, length)


def _band(tables: dict[int, Floats], true: Codes, codes: Codes, people: Floats) -> tuple[int | None, Codes]:
    """The changed key whose released symbols leave the fewest people, and the first and last level of each symbol."""
    best, least, limits = None, np.inf, np.empty((2, 0), dtype=np.int64)
    for a, table in tables.items():
        possible = table > 0
        low = np.argmax(possible, axis=1)
        high = table.shape[1] - 1 - np.argmax(possible[:, ::-1], axis=1)
        share = np.append(0, np.cumsum(np.bincount(true[:, a], weights=people, minlength=table.shape[1])))
        left = float((share[high + 1] - share[low])[codes[:, a]].mean())
        if left < least:
            best, least, limits = a, left, np.stack([low, high])
    return best, limits


def _symbol_counts(record: Codes, released: CodedFile) -> tuple[Codes, Codes, Floats]:
    """How many copies of each kind of record were released with each confidential symbol, as CSR."""
    width = released.confidential_size
    cell, counts = np.unique(record * width + released.confidential, return_counts=True)
    starts = np.searchsorted(cell // width, np.arange(record.max() + 2))
    return starts, cell % width, counts.astype(np.float64)


def _too_large(people: int, others: int, of: str, *, pairs: int | None = None) -> InputError:
    count = people * others if pairs is None else pairs
    return InputError(
        f"The register intruder compares {people:,} distinct people with {others:,} {of}, {count:,} pairs, more than "
        f"{MOST_PAIRS:,}; use fewer known keys, another intruder, or a random sample of the people."
    )
