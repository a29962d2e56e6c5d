"""Expected population uniques from the sizes of a sample's classes: Pitman, negative binomial, SNB, Zayatz.

All of them take how many classes of each size a simple random sample has, and the sampling fraction π. The sample has n
records in K classes; the population N = n/π people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import exp, log, log1p, prod

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.errors import InputError

# Log-linear models of the keys: the expected size of every class, from margins of the sample.

Floats = NDArray[np.float64]
MOST_CELLS = 20_000_000
"""Combinations of key levels beyond which two-way interactions are not fitted."""
_MOST_ROUNDS = 200
_AGREES = 1e-5
"""Rounds end when no two-way count differs from the sample's by more than this share of a record."""


def cells(classes: Classes) -> int:
    """All combinations of the levels of the known keys."""
    return prod(len(classes.people.levels(name)) for name in classes.known)


def main_effects(classes: Classes) -> Floats:
    """The expected size of each class if the keys were independent: n · Π_a (records with its level of key a) / n."""
    n = len(classes.people)
    expected = np.full(len(classes), float(n))
    for codes in classes.key_codes.T:
        expected *= (np.bincount(codes, weights=classes.sizes) / n)[codes]
    return expected


def two_way(classes: Classes) -> Floats:
    """The expected size of each class with all interactions of two keys, by iterative proportional fitting.

    The fitted table has the sample's counts for every pair of keys, and no interaction of three. Poisson's maximum
    likelihood has the same margins.
    """
    keys = len(classes.known)
    if keys < 2:
        return main_effects(classes)
    shape = tuple(len(classes.people.levels(name)) for name in classes.known)
    if prod(shape) > MOST_CELLS:
        raise InputError(
            f"the keys have {prod(shape):,} combinations of levels, more than the {MOST_CELLS:,} for which two-way "
            "interactions are fitted; use interactions=1, or let fewer keys be known."
        )
    codes = tuple(classes.key_codes.T.astype(np.int64))
    pairs = list(combinations(range(keys), 2))
    rest = [tuple(a for a in range(keys) if a not in pair) for pair in pairs]
    margins = [_margin(codes, classes.sizes, shape, pair) for pair in pairs]
    fitted = np.ones(shape)
    for _ in range(_MOST_ROUNDS):
        farthest = 0.0
        for others, wanted in zip(rest, margins, strict=True):
            found = fitted.sum(axis=others, keepdims=True)
            farthest = max(farthest, float(np.abs(found - wanted).max()))
            fitted *= np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
        if farthest < _AGREES:
            break
    return np.asarray(fitted[codes])


def _margin(
    codes: tuple[NDArray[np.int64], ...],
    sizes: NDArray[np.int64],
    shape: tuple[int, ...],
    pair: tuple[int, int],
) -> Floats:
    """The sample's counts for a pair of keys, with an axis of length 1 for each other key."""
    one, other = pair
    cell = codes[one] * shape[other] + codes[other]
    counts = np.bincount(cell, weights=sizes, minlength=shape[one] * shape[other])
    return np.asarray(counts.reshape([n if a in pair else 1 for a, n in enumerate(shape)]), np.float64)


def expected_uniques(classes: Classes, expected: Floats, fraction: float) -> float:
    """τ_1 / π, with τ_1 = Σ over sample uniques of P(F = 1 | f = 1) = exp(−μ·(1 − π)/π), μ the expected size in the
    sample: the unsampled people of a class are Poisson with mean μ·(1 − π)/π."""
    alone = expected[classes.sizes == 1]
    return float(np.exp(-alone * (1 - fraction) / fraction).sum()) / fraction


_GRID = 33
"""Points of the first search for a parameter; the search then continues around the best one."""
_SOLVED = 1e-10


@dataclass(frozen=True, eq=False)
class SizeCounts:
    """How many classes of each size a sample has."""

    sizes: Floats = field(repr=False)
    """The sizes that occur, ascending."""
    classes: Floats = field(repr=False)
    """How many classes have each of them."""
    fraction: float
    """π: the share of the population that was sampled."""

    @classmethod
    def of(cls, sizes: NDArray[np.int64], fraction: float) -> SizeCounts:
        """From the size of each class."""
        found, classes = np.unique(sizes, return_counts=True)
        return cls(found.astype(np.float64), classes.astype(np.float64), fraction)

    @property
    def records(self) -> float:
        """n: the records of the sample."""
        return float(self.sizes @ self.classes)

    @property
    def number(self) -> float:
        """K: the classes of the sample."""
        return float(self.classes.sum())

    @property
    def population(self) -> float:
        """N: the people of the population."""
        return self.records / self.fraction

    @property
    def alone(self) -> float:
        """The classes of one record: the sample uniques."""
        return float(self.classes[0]) if self.sizes[0] == 1 else 0.0


@dataclass(frozen=True)
class Fit:
    """The expected number of population uniques, and the parameters of the model."""

    uniques: float
    parameters: Mapping[str, float]


def pitman(sample: SizeCounts) -> Fit:
    """Pitman's sampling formula: person i + 1 founds a class with chance (θ + Kα)/(θ + i), K the classes so far, or
    joins one of size f with chance (f − α)/(θ + i); 0 < α < 1, θ > −α. Both parameters by maximum likelihood of the
    sample's partition. Expected uniques N · Γ(θ+1)/Γ(θ+α) · Γ(θ+α+N−1)/Γ(θ+N).
    """
    from scipy.special import digamma, gammaln

    n, k, sizes, classes = sample.records, sample.number, sample.sizes, sample.classes

    def theta_of(alpha: float) -> float:
        def slope(shifted: float) -> float:
            theta = exp(shifted) - alpha
            founded = (digamma(theta / alpha + k) - digamma(theta / alpha + 1)) / alpha
            return float(founded - (digamma(theta + n) - digamma(theta + 1)))

        return exp(_root(slope, log(1e-9), log(1e12))) - alpha

    def unlikely(alpha: float) -> float:
        theta = theta_of(alpha)
        founded = (k - 1) * log(alpha) + gammaln(theta / alpha + k) - gammaln(theta / alpha + 1)
        joined = classes @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
        return -float(founded + joined - gammaln(theta + n) + gammaln(theta + 1))

    alpha = _least(unlikely, 1e-4, 1 - 1e-4)
    theta, people = theta_of(alpha), sample.population
    logs = (
        gammaln(theta + 1)
        - gammaln(theta + alpha)
        + gammaln(theta + alpha + people - 1)
        - gammaln(theta + people)
    )
    return Fit(people * exp(float(logs)), {"alpha": alpha, "theta": theta})


def negative_binomial(sample: SizeCounts) -> Fit:
    """Poisson–gamma: class sizes in the population are negative binomial with shape α and mean αb/π, so that the
    sample's are, too, with mean αb; classes of size 0 are not seen. Both parameters by maximum likelihood of the sizes
    above 0. Expected uniques N · (1 + b/π)^−(1+α).
    """
    from scipy.special import gammaln

    mean = sample.records / sample.number

    def scale_of(alpha: float) -> float:
        """The b for which the expected size of a class with at least one record equals the sample's mean."""
        return exp(_root(lambda x: log(mean) - _log_seen_mean(alpha, exp(x)), log(1e-12), log(1e12)))

    def unlikely(shape: float) -> float:
        alpha = exp(shape)
        b = scale_of(alpha)
        found = gammaln(sample.sizes + alpha) - gammaln(alpha + 1) + sample.sizes * log(b / (1 + b))
        seen = log(-np.expm1(-alpha * log1p(b)) / alpha) + alpha * log1p(b)
        return -float(sample.classes @ (found - gammaln(sample.sizes + 1)) - sample.number * seen)

    alpha = exp(_least(unlikely, log(1e-6), log(1e4)))
    b = scale_of(alpha)
    uniques = sample.population * exp(-(1 + alpha) * log1p(b / sample.fraction))
    return Fit(uniques, {"alpha": alpha, "b": b})


def slide_negative_binomial(sample: SizeCounts) -> Fit:
    """SNB: a class of the population has one person more than a negative binomial number with shape r and chance p.

    In the sample its size is negative binomial with p/(p + π(1−p)), one more with chance π; classes of size 0 are not
    seen. For each r, p makes the expected size of a class that is seen the sample's mean; r by maximum likelihood of
    the sizes above 0. Expected uniques K/(1 − P(0)) · p^r.
    """
    from scipy.special import gammaln

    share, mean = sample.fraction, sample.records / sample.number

    def missed(r: float, p: float) -> float:
        """P(0): no person of a class is in the sample."""
        return (1 - share) * exp(r * (log(p) - log(p + share * (1 - p))))

    def chance_of(r: float) -> float:
        def excess(logit: float) -> float:
            p = 1 / (1 + exp(-logit))
            return log(share * (1 + r * exp(-logit)) / (1 - missed(r, p))) - log(mean)

        return 1 / (1 + exp(-_root(excess, -30.0, 30.0)))

    def unlikely(shape: float) -> float:
        r = exp(shape)
        p = chance_of(r)
        thinned = p / (p + share * (1 - p))

        def chances(j: Floats) -> Floats:
            found = gammaln(j + r) - gammaln(r) - gammaln(j + 1) + r * log(thinned) + j * np.log1p(-thinned)
            return np.asarray(np.exp(found))

        seen = ((1 - share) * chances(sample.sizes) + share * chances(sample.sizes - 1)) / (1 - missed(r, p))
        return -float(sample.classes @ np.log(np.maximum(seen, 1e-300)))

    r = exp(_least(unlikely, log(1e-4), log(1e4)))
    p = chance_of(r)
    uniques = sample.number / (1 - missed(r, p)) * exp(r * log(p))
    return Fit(min(uniques, sample.population), {"r": r, "p": p})


def zayatz(sample: SizeCounts) -> Fit:
    """The population's classes have the sizes of the sample's: P(F = 1 | f = 1) = s_1·h_1 / Σ_j s_j·h_j.

    s_j is the number of the sample's classes of size j, h_j the hypergeometric chance that exactly one of a class's j
    people is drawn. Expected uniques s_1 · P(F = 1 | f = 1) / π.
    """
    from scipy.special import gammaln

    n, people, sizes = sample.records, sample.population, sample.sizes
    others = people - n
    possible = sizes - 1 <= others
    j = sizes[possible]
    # j · C(N−j, n−1) / C(N, n), without the factors that do not depend on j
    logs = np.log(j) + gammaln(people - j + 1) - gammaln(others - j + 2)
    weights = sample.classes[possible] * np.exp(logs - logs.max())
    stays = float(weights[0] / weights.sum()) if sample.alone else 0.0
    return Fit(sample.alone * stays / sample.fraction, {"stays_unique": stays})


def _log_seen_mean(alpha: float, b: float) -> float:
    """log of αb / (1 − (1+b)^−α)."""
    return log(alpha) + log(b) - log(-np.expm1(-alpha * log1p(b)))


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """The root of a function that falls from positive to negative; an end of the range if it has none."""
    from scipy.optimize import brentq

    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    return float(brentq(falling, low, high, xtol=_SOLVED))


def _least(cost: Callable[[float], float], low: float, high: float) -> float:
    """The minimiser of a function: on a grid, then around the best point of the grid."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, _GRID)
    best = int(np.argmin([cost(float(x)) for x in grid]))
    between = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, _GRID - 1)]))
    return float(minimize_scalar(cost, bounds=between, method="bounded", options={"xatol": 1e-8}).x)
