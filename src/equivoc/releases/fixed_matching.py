"""Three fixed ways to link released records to people: exact, nearest and probable matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import class_of_records
from equivoc.linkage.distance_weights import BINS, distance_bins
from equivoc.releases.record_tree import RecordTree
from equivoc.releases.symbol_reading import NULL, Symbols

if TYPE_CHECKING:
    from equivoc.data.classes import Classes
    from equivoc.data.microdata import Microdata
    from equivoc.releases.released_columns import ReleasedConfidential

# Fellegi–Sunter weights: the evidence of agreement on a key for a match, estimated by EM from counts of
# pairs.
#
# Pairs of a person and a released record fall into 2^keys patterns: on which keys they agree. A share of the
# pairs are matches, one record for each person at most: it is taken as 1/max(n, n′). Matches agree on key a
# with probability m_a, other pairs with u_a, independently of other keys. u_a is the rate among all pairs, of
# which hardly any are matches; m_a is estimated by EM, and is at least u_a: agreement is never evidence
# against a match.
#
# Sources: I. P. Fellegi and A. B. Sunter, *A Theory for Record Linkage* (JASA 64, 1969); W. E. Winkler,
# *Using the EM Algorithm for Weight Computation in the Fellegi–Sunter Model of Record Linkage* (1988).

Floats = NDArray[np.float64]
NEVER = 1e-9
"""No probability is set to 0 or 1: one unusual record would exclude every match."""
STEPS = 10_000
CONVERGED = 1e-12


@dataclass(frozen=True)
class MatchWeights:
    """For each key, P(agreement) among matches and non-matches."""

    m: tuple[float, ...]
    """P(agreement | match) of each key."""
    u: tuple[float, ...]
    """P(agreement | no match) of each key."""

    def factors(self, key: int) -> tuple[float, float]:
        """The factors for agreement, m/u, and for disagreement, (1 − m)/(1 − u)."""
        m, u = self.m[key], self.u[key]
        return m / u, (1 - m) / (1 - u)

    def coefficients(self, known: Sequence[int]) -> Floats:
        """For every subset T of the known keys (a bit mask), the weight added by each record that agrees on all of T.

        Π_a (β_a + (α_a − β_a)·A_a) = Σ_T Π_{a in T} (α_a − β_a) · Π_{a not in T} β_a · A_T, with α, β the factors and A
        the agreements: a sum over subsets needs no pairs. As m ≥ u, no term is negative.

        >>> MatchWeights((0.9,), (0.5,)).coefficients([0]).round(3).tolist()
        [0.2, 1.6]
        """
        found = np.ones(1)
        for key in known:
            agree, disagree = self.factors(key)
            found = np.concatenate([found * disagree, found * (agree - disagree)])
        return found


def pattern_counts(at_least: NDArray[np.int64]) -> NDArray[np.int64]:
    """From counts of pairs that agree at least on T to counts of pairs that agree exactly on T; T as bit masks.

    >>> pattern_counts(np.array([10, 4, 3, 2])).tolist()
    [5, 2, 1, 2]
    """
    counts = np.array(at_least, dtype=np.int64)
    masks = np.arange(len(counts))
    bit = 1
    while bit < len(counts):
        without = masks[masks & bit == 0]
        counts[without] -= counts[without | bit]
        bit *= 2
    return counts


def estimate(patterns: NDArray[np.int64], *, matches: float) -> MatchWeights:
    """m by EM from the counts of pairs by pattern, a share ``matches`` of which are matches; u is their overall rate.

    >>> found = estimate(np.array([81, 9, 0, 10]), matches=0.1)
    >>> [round(m, 3) for m in found.m], [round(u, 3) for u in found.u]
    ([1.0, 1.0], [0.19, 0.1])
    """
    keys = len(patterns).bit_length() - 1
    agrees = (np.arange(len(patterns))[:, None] >> np.arange(keys)) & 1 == 1
    share = patterns / patterns.sum()
    u = _possible(share @ agrees)
    matches = min(matches, 1 - NEVER)
    log_other = _log_likelihood(agrees, u) + np.log1p(-matches)
    m = np.maximum(0.9, u)
    for _ in range(STEPS):
        log_match = _log_likelihood(agrees, m) + np.log(matches)
        is_match = share / (1 + np.exp(np.minimum(log_other - log_match, 700)))
        better = np.maximum(_possible((is_match @ agrees) / is_match.sum()), u)
        settled = np.abs(better - m).max(initial=0.0) < CONVERGED
        m = better
        if settled:
            break
    return MatchWeights(tuple(m.tolist()), tuple(u.tolist()))


def _possible(probability: Floats) -> Floats:
    return np.clip(probability, NEVER, 1 - NEVER)


def _log_likelihood(agrees: NDArray[np.bool_], agreement: Floats) -> Floats:
    return np.asarray(np.where(agrees, np.log(agreement), np.log1p(-agreement)).sum(axis=1))


MOST_KEYS = 12
"""Probable matching counts agreement on every subset of the keys: 4,096 of them."""
CELLS_AT_A_TIME = 2**22


@dataclass(frozen=True, eq=False)
class FixedMatching:
    """Linkages by a rule that does not depend on how the file was made.

    With v the target's known values and s_a(r) the levels of key a that record r may have, the weight of a record is
    ``Π_a 1/|s_a(r)|`` (1 for a key of which no level is possible), times

    - exact: ``Π_a [v_a ∈ s_a(r)]``; if no record fits, the distribution of the whole file;
    - nearest: 1 for the records at the least distance ``Σ_a δ_a²``, 0 for others (`record_tree` has δ);
    - probable: ``Π_a (v_a ∈ s_a(r) ? m_a/u_a : (1 − m_a)/(1 − u_a))`` (`MatchWeights` has m and u).
    """

    people: Microdata = field(repr=False)
    keys: Mapping[str, Symbols] = field(repr=False)
    """Every key of the people, as released."""
    confidential: ReleasedConfidential = field(repr=False)

    def linkage(self, classes: Classes, matching: str) -> Any:
        """Classes × groups of confidential values."""
        if matching == "probable":
            return self._weighed(classes)
        if matching == "nearest":
            return self._tree(classes.known, self._shares(classes.known)).nearest(self._points(classes))
        return self.or_last(self.fitting(classes))

    def fitting(self, classes: Classes) -> Any:
        """Classes × groups, CSR: the records that fit; the row of a class that none fits is empty."""
        return self._tree(classes.known, self._shares(classes.known)).fitting(self._points(classes))

    def or_last(self, linkage: Any) -> Any:
        """Classes that no record fits are linked to the last group, the distribution of the whole file."""
        from scipy.sparse import csr_array

        if isinstance(linkage, np.ndarray):
            found = linkage.copy()
            found[~linkage.any(axis=1), self.confidential.marginal_group] = 1.0
            return found
        stranded = np.flatnonzero(np.diff(linkage.indptr) == 0)
        whole = np.full(len(stranded), self.confidential.marginal_group)
        return linkage + csr_array((np.ones(len(stranded)), (stranded, whole)), shape=linkage.shape)

    def _tree(self, known: Sequence[str], weights: Floats | None = None) -> RecordTree:
        width = int(self.confidential.channel.shape[0])
        return RecordTree.of([self.keys[name] for name in known], self.confidential.groups, width, weights)

    def _shares(self, known: Sequence[str]) -> Floats:
        """Π 1/|s_a(r)| of each record: one with ten possible ages counts a tenth for each."""
        found = np.ones(len(self.confidential.codes))
        for name in known:
            found /= np.maximum(self.keys[name].sizes, 1)[self.keys[name].codes]
        return found

    def _points(self, classes: Classes) -> NDArray[np.float64]:
        """Classes × known keys: the positions of their values on the keys' lines."""
        points = np.empty((len(classes), len(classes.known)))
        for column, name in enumerate(classes.known):
            levels = classes.people.decode(name, np.arange(len(classes.people.levels(name))))
            points[:, column] = self.keys[name].line.place(levels)[classes.key_codes[:, column]]
        return points

    @cached_property
    def weights(self) -> MatchWeights:
        """Probable matching's m and u of every key, estimated from all people × all released records."""
        keys = list(self.keys)
        at_least = np.empty(2 ** len(keys), dtype=np.int64)
        for mask in range(len(at_least)):
            classes, agreeing = self._agreeing(self.people, _chosen(keys, mask))
            at_least[mask] = classes.sizes @ np.rint(agreeing.sum(axis=1)).astype(np.int64)
        larger = max(len(self.people), len(self.confidential.codes))
        return estimate(pattern_counts(at_least), matches=1.0 / larger)

    @cached_property
    def _own_agreements(self) -> dict[tuple[str, ...], Any]:
        return {}

    def _agreeing(
        self, people: Microdata, known: Sequence[str], shares: Floats | None = None
    ) -> tuple[Classes, Any]:
        """The classes of these keys, and for each how many records of each group agree with it on all of them.

        ``shares`` says how much each record counts; None: 1.
        """
        ordered = tuple(name for name in self.keys if name in known)
        classes = people.classes(ordered)
        kept = people is self.people and shares is None
        if kept and ordered in self._own_agreements:
            return classes, self._own_agreements[ordered]
        found = self._tree(ordered, shares).fitting(self._points(classes))
        if kept:
            self._own_agreements[ordered] = found
        return classes, found

    def _weighed(self, classes: Classes) -> NDArray[np.float64]:
        """Classes × groups: Σ_T coefficient_T · (shares of records that agree on T), without listing pairs."""
        from scipy.sparse import csr_array, vstack

        known, names = classes.known, list(self.keys)
        shares = self._shares(known)
        weighted = None if (shares == 1).all() else shares
        coefficients = self.weights.coefficients([names.index(name) for name in known])
        tables, rows, offset = [], np.empty((len(classes), len(coefficients)), dtype=np.int64), 0
        for mask in range(len(coefficients)):
            chosen = _chosen(known, mask)
            coarser, agreeing = self._agreeing(classes.people, chosen, weighted)
            columns = [classes.key_codes[:, known.index(name)] for name in coarser.known]
            rows[:, mask] = offset + class_of_records(coarser.key_codes, columns, len(classes))
            tables.append(agreeing)
            offset += len(coarser)
        stacked = csr_array(vstack(tables, format="csr"))
        weights = np.empty((len(classes), stacked.shape[1]))
        piece = max(1, CELLS_AT_A_TIME // max(stacked.shape[1], len(coefficients)))
        for at in range(0, len(classes), piece):
            part = rows[at : at + piece]
            pointers = np.arange(len(part) + 1) * len(coefficients)
            picked = csr_array(
                (np.tile(coefficients, len(part)), part.ravel(), pointers), shape=(len(part), offset)
            )
            weights[at : at + piece] = (picked @ stacked).toarray()
        return weights


def _chosen(names: Sequence[str], mask: int) -> list[str]:
    return [name for bit, name in enumerate(names) if mask >> bit & 1]


# P(level | symbol) and distances between levels and symbols of a released key, as tables of symbols × levels.

Flags = NDArray[np.bool_]
LEVEL_STEPS = 50


def members(key: Symbols, at: Floats) -> Flags:
    """Symbols × places: is the place in one of the symbol's intervals?"""
    found = np.zeros((len(key.labels), len(at)), dtype=bool)
    symbol = np.repeat(np.arange(len(key.labels)), np.diff(key.starts))
    for each, low, high in zip(symbol, key.lows, key.highs, strict=True):
        found[each] |= (at >= low) & (at <= high)
    return found


def level_chances(key: Symbols, people: Floats) -> Floats:
    """Symbols × levels: P(true level | symbol), for someone who knows how many ``people`` have each level.

    The table of records by symbol and true level is unknown, but its sums are known: the records of each symbol, and
    the people of each level. Of the tables with these sums that have records only where the level is possible, this
    is the most even one (iterative proportional fitting). So a star stands mostly for the levels that are missing among
    the other records. The row of a symbol without levels is all zeros.
    """
    table = members(key, key.line.at) * people
    expected = people * (key.records.sum() / people.sum())
    for _ in range(LEVEL_STEPS):
        table = table * _ratio(key.records, table.sum(axis=1))[:, None]
        table = table * _ratio(expected, table.sum(axis=0))
    return np.asarray(table * _ratio(np.ones(len(table)), table.sum(axis=1))[:, None])


def level_bins(key: Symbols) -> NDArray[np.int64]:
    """Symbols × levels: the bin of the distance from a level to a symbol (`linkage.distance_weights.distance_bins`).

    A number between two levels is at distance 0 from both; null is far from every number.
    """
    at = key.line.at
    inside = members(key, at)
    if not key.line.numeric:
        return distance_bins(inside, ordered=False)
    numbers = at < NULL
    for each in np.flatnonzero(~inside.any(axis=1)):
        low = key.lows[key.starts[each]]
        above = int(np.searchsorted(at[numbers], low))
        inside[each, [max(above - 1, 0), min(above, int(numbers.sum()) - 1)]] = low < NULL
    found = np.full(inside.shape, BINS - 1, dtype=np.int64)
    found[:, numbers] = distance_bins(inside[:, numbers], ordered=True)
    return np.where(inside, 0, found)


def _ratio(wanted: Floats | NDArray[np.int64], reached: Floats) -> Floats:
    return np.divide(wanted, reached, out=np.zeros(len(reached)), where=reached > 0)
