"""Fellegi–Sunter weights: the evidence of agreement on a key for a match, estimated by EM from counts of pairs.

Pairs of a person and a released record fall into 2^keys patterns: on which keys they agree. A share of the pairs are
matches, one record for each person at most: it is taken as 1/max(n, n′). Matches agree on key a with probability m_a,
other pairs with u_a, independently of other keys. u_a is the rate among all pairs, of which hardly any are matches;
m_a is estimated by EM, and is at least u_a: agreement is never evidence against a match.

Sources: I. P. Fellegi and A. B. Sunter, *A Theory for Record Linkage* (JASA 64, 1969); W. E. Winkler, *Using the EM
Algorithm for Weight Computation in the Fellegi–Sunter Model of Record Linkage* (1988).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
