"""Linkage weights for a file of unknown origin, by the distance between each released key and the person's true one.

It is unknown how the file was made. Released record r has symbols (a number, a range, a set); person i has the
distance δ to a symbol: the number of levels to the nearest possible one, in bins 0, 1, 2, 3–4, 5–8, …; for
unordered categories 0 or 1. The weight of the pair is ``Π_a m_a(δ) / u_a(δ | symbol)``: u is the share of all people at
that distance from this symbol, so that a rare value, or a narrow set, has more weight; m is how often a record is at
that distance from its own person, estimated by EM: a priori a record belongs to each person with the same probability,
or, if there are more records than people, to nobody, and then has the distances of a random person. A smaller distance
is never weaker evidence: where EM disagrees, neighbouring bins get the same ratio m/u (isotonic regression).

EM finds different answers from different starts: one where most keys were changed (m(0) = 0.6) and one where hardly any
were (0.999). Both are returned, the likelier first; the intruder uses the one with less surprise.

Cost: 2^21 pairs of sampled records and people at most, some 20 ns each per step and start.

Sources: I. P. Fellegi and A. B. Sunter, *A Theory for Record Linkage* (JASA 64, 1969); W. E. Winkler, *Using the EM
Algorithm for Weight Computation in the Fellegi–Sunter Model of Record Linkage* (1988).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
STARTS = (0.6, 0.999)
BINS = 7
"""0, 1, 2, 3–4, 5–8, 9–16, more."""
PAIRS = 2**21
STEPS = 200
SETTLED = 1e-5
NEVER = 1e-6
"""No distance has probability 0: one unusual record would exclude its person."""


@dataclass(frozen=True, eq=False)
class MatchTables:
    """The weights of every key, estimated from one start."""

    start: float
    m: Floats = field(repr=False)
    """Keys × bins: P(bin | the record is this person's); each row sums to 1."""
    weights: tuple[Floats, ...] = field(repr=False)
    """Per key, true levels × released symbols, m/u: as the evidence of a `CodedFile`, or of a register."""
    log_likelihood: float
    """Mean log2 likelihood ratio per record, against records at the distances of random people."""


def distance_bins(members: npt.ArrayLike, *, ordered: bool) -> Ints:
    """Symbols × levels: the bin of each level's distance to the set of levels that a symbol stands for.

    ``members`` marks the possible levels of a symbol; a symbol without levels is at the largest distance from all.

    >>> distance_bins([[0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]], ordered=True).tolist()
    [[1, 0, 1, 2, 3, 3], [0, 1, 2, 2, 1, 0]]
    """
    member = np.asarray(members, dtype=bool)
    if not ordered:
        return (~member).astype(np.int64)
    levels = np.arange(member.shape[1])
    far = 2 * member.shape[1] + 2**BINS
    before = np.maximum.accumulate(np.where(member, levels, -far), axis=1)
    after = np.minimum.accumulate(np.where(member, levels, 2 * far)[:, ::-1], axis=1)[:, ::-1]
    distance = np.minimum(levels - before, after - levels)
    return np.where(
        distance == 0, 0, np.minimum(1 + np.ceil(np.log2(np.maximum(distance, 1))), BINS - 1)
    ).astype(np.int64)


def match_tables(
    people: npt.ArrayLike,
    sizes: npt.ArrayLike,
    records: npt.ArrayLike,
    bins: Sequence[npt.ArrayLike],
    *,
    seed: int = 0,
) -> tuple[MatchTables, ...]:
    """The weights by EM from both starts, the likelier first.

    ``people``: classes × keys, true codes, with ``sizes`` people each; ``records``: released symbols, records × keys;
    ``bins``: per key symbols × levels, as `distance_bins` has them.
    """
    true, shown = np.asarray(people, dtype=np.int64), np.asarray(records, dtype=np.int64)
    count = np.asarray(sizes, dtype=np.float64)
    tables = [np.asarray(each, dtype=np.int64) for each in bins]
    if (
        true.ndim != 2
        or shown.ndim != 2
        or not true.shape[1] == shown.shape[1] == len(tables)
        or not len(shown)
    ):
        raise InputError("Matching needs classes × keys, records × the same keys, and bins for each of them.")
    at_distance = [_shares(table, true[:, key], count) for key, table in enumerate(tables)]
    random = np.random.default_rng(seed)
    # A sample of the records against all people, or against a sample of them if they are many.
    if len(true) > PAIRS // 64:
        part = random.choice(len(true), PAIRS // 64, replace=False, p=count / count.sum())
        true, count = true[part], np.full(len(part), count.sum() / len(part))
    some = max(64, PAIRS // max(1, len(true)))
    sample = shown if len(shown) <= some else shown[random.choice(len(shown), some, replace=False)]
    pairs = _pairs(true, sample, tables, at_distance)
    own = min(1.0, count.sum() / len(shown)) / count.sum()  # P(the record is of this one person)
    found = []
    for start in STARTS:
        m, likelihood = _estimated(pairs, count, own, start, len(tables))
        weights = tuple(
            (m[key][table] / _picked(at_distance[key], table)).T for key, table in enumerate(tables)
        )
        found.append(MatchTables(start, m, weights, likelihood))
    return tuple(sorted(found, key=lambda each: -each.log_likelihood))


def _shares(table: Ints, levels: Ints, people: Floats) -> Floats:
    """Symbols × bins: u, the share of people in each bin from each symbol; no less than a thousandth of one person."""
    by_level = np.bincount(levels, weights=people, minlength=table.shape[1])
    found = np.zeros((len(table), BINS))
    for each in range(BINS):
        found[:, each] = (table == each) @ by_level
    return np.asarray(np.maximum(found, 1e-3) / people.sum())


def _picked(shares: Floats, table: Ints) -> Floats:
    return np.take_along_axis(shares, table, axis=1)


@dataclass(frozen=True, eq=False)
class _Pairs:
    pattern: Ints
    """Records × people: which combination of bins a pair shows."""
    bins: Ints
    """Patterns × keys."""
    rarity: Floats
    """Records × people: Π 1/u."""
    usual: Floats
    """Keys × bins: u, on average over the records."""


def _pairs(true: Ints, shown: Ints, tables: Sequence[Ints], at_distance: Sequence[Floats]) -> _Pairs:
    pattern = np.zeros((len(shown), len(true)), dtype=np.int64)
    patterns = np.zeros((1, 0), dtype=np.int64)
    rarity = np.ones(pattern.shape)
    for key, table in enumerate(tables):
        pair = table[shown[:, key]][:, true[:, key]]
        rarity /= _picked(at_distance[key], table)[shown[:, key]][:, true[:, key]]
        pattern = pattern * BINS + pair
        occurs = np.bincount(pattern.ravel(), minlength=len(patterns) * BINS) > 0
        # Only combinations that occur are numbered, however many keys there are.
        patterns = np.column_stack(
            [np.repeat(patterns, BINS, axis=0), np.tile(np.arange(BINS), len(patterns))]
        )[occurs]
        pattern = (np.cumsum(occurs) - 1)[pattern]
    usual = np.array([shares[shown[:, key]].mean(axis=0) for key, shares in enumerate(at_distance)])
    return _Pairs(pattern, patterns, rarity, usual.reshape(len(tables), BINS))


def _estimated(pairs: _Pairs, people: Floats, own: float, start: float, keys: int) -> tuple[Floats, float]:
    """m by EM, and the mean log2 likelihood per record."""
    occurs = [np.bincount(pairs.bins[:, key], minlength=BINS) > 0 for key in range(keys)]
    m = np.array([_spread(each, start) for each in occurs]).reshape(keys, BINS)
    nobody = max(0.0, 1.0 - own * people.sum())
    likelihood = -np.inf
    for _ in range(STEPS):
        match = np.prod([m[key][pairs.bins[:, key]] for key in range(keys)], axis=0) * np.ones(
            len(pairs.bins)
        )
        weight = match[pairs.pattern] * pairs.rarity * (own * people)
        total = weight.sum(axis=1, keepdims=True) + nobody
        weight /= total
        by_pattern = np.bincount(pairs.pattern.ravel(), weight.ravel(), minlength=len(pairs.bins))
        better = np.array(
            [np.bincount(pairs.bins[:, key], by_pattern, minlength=BINS) for key in range(keys)]
        )
        better = better.reshape(keys, BINS) / by_pattern.sum()
        better = np.array([_falling(*each) for each in zip(better, pairs.usual, strict=True)])
        better = np.maximum(better.reshape(keys, BINS), NEVER)
        better /= better.sum(axis=1, keepdims=True)
        reached = float(np.log2(total).mean())
        settled = reached - likelihood < SETTLED
        m, likelihood = better, reached
        if settled:
            break
    return m, likelihood


def _falling(m: Floats, u: Floats) -> Floats:
    """m with non-increasing ratios m/u; neighbours that increase are pooled, each pool keeping its sum.

    >>> _falling(np.array([0.3, 0.5, 0.2]), np.array([0.25, 0.25, 0.5])).tolist()
    [0.4, 0.4, 0.2]
    """
    pools: list[tuple[float, float, int]] = []
    for mass, usual in zip(m.tolist(), u.tolist(), strict=True):
        pools.append((mass, usual, 1))
        while len(pools) > 1 and pools[-1][0] * pools[-2][1] > pools[-2][0] * pools[-1][1]:
            last, before = pools.pop(), pools.pop()
            pools.append((last[0] + before[0], last[1] + before[1], last[2] + before[2]))
    ratio = np.repeat([mass / usual for mass, usual, _ in pools], [bins for *_, bins in pools])
    return np.asarray(ratio * u)


def _spread(occurs: npt.NDArray[np.bool_], start: float) -> Floats:
    """A first guess: ``start`` at distance 0, the rest evenly over the other bins that occur."""
    others = occurs.copy()
    others[0] = False
    found = np.full(BINS, NEVER)
    found[others] = (1 - start) / max(1, int(others.sum()))
    found[0] = start
    return np.asarray(found / found.sum())
