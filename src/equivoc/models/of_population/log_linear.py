"""Log-linear models of the keys: the expected size of every class, from margins of the sample."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.errors import InputError

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
