"""Surprise at a tolerance against every partition into windows, and what a proper score must satisfy."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import log2

import numpy as np
import pytest

from equivoc.measure.curves import curves
from equivoc.measure.distribution import Distribution
from equivoc.measure.jumps import surprise_of_values


def optimal_partitions(x: list[int], p: list[Fraction], eps: int) -> list[list[tuple[int, int]]]:
    """All partitions into windows of length ≤ ε with the least entropy, as (first, past) pairs; costs as floats."""
    n = len(x)
    found: list[tuple[float, list[tuple[int, int]]]] = []
    for cuts in range(n):
        for inner in combinations(range(1, n), cuts):
            ends = [0, *inner, n]
            windows = list(pairwise(ends))
            if all(x[b - 1] - x[a] <= eps for a, b in windows):
                masses = [float(sum(p[a:b], Fraction(0))) for a, b in windows]
                found.append((-sum(q * log2(q) for q in masses), windows))
    least = min(cost for cost, _ in found)
    return [windows for cost, windows in found if cost <= least + 1e-12]


@pytest.mark.parametrize("seed", range(40))
def test_bits_are_those_of_optimal_windows_and_the_same_mirrored(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    x = sorted(rng.choice(12, size=n, replace=False).tolist())
    shares = rng.integers(1, 4 if seed % 2 else 2, size=n).tolist()
    p = [Fraction(s, sum(shares)) for s in shares]
    eps = int(rng.integers(0, 8))
    truths, bounds = np.array(x, float), np.array([0, n])
    found = curves(x, [[float(q) for q in p]]).surprises(eps, truths, bounds)
    mirrored = curves([-v for v in x], [[float(q) for q in p]]).surprises(eps, -truths[::-1], bounds)[::-1]
    np.testing.assert_allclose(found, mirrored, atol=1e-12)
    best = optimal_partitions(x, p, eps)
    bits = np.array(
        [[-log2(float(sum(p[a:b]))) for a, b in windows for _ in range(a, b)] for windows in best]
    )
    assert (found >= bits.min(axis=0) - 1e-9).all()
    assert (found <= bits.max(axis=0) + 1e-9).all()
    if len(best) == 1:
        np.testing.assert_allclose(found, bits[0], atol=1e-9)


@pytest.mark.parametrize("n", [5, 40, 300])
def test_a_calibrated_intruder_is_surprised_by_her_entropy(n: int) -> None:
    rng = np.random.default_rng(n)
    x, p = np.sort(rng.choice(10_000, size=n, replace=False)).astype(float), rng.dirichlet(np.ones(n))
    many = curves(x, p[None, :])
    for eps in (0.0, 50.0, 2_000.0):
        mean = float(p @ many.surprises(eps, x, np.array([0, n])))
        assert mean == pytest.approx(float(many.at(eps)[0]), abs=1e-9)


def test_what_the_row_rules_out_is_infinitely_surprising_and_rows_keep_their_own_truths() -> None:
    many = curves([1, 2, 3], [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75], [0.5, 0.5, 0.0]])
    found = many.surprises(0, np.array([1.0, 3.0, 2.0, 3.0, 1.0]), np.array([0, 2, 4, 5]))
    assert found.tolist() == [1.0, np.inf, 2.0, pytest.approx(-np.log2(0.75)), 1.0]


def test_tiny_masses_surprise_by_their_own_bits() -> None:
    """Differences of cumulative sums would make them 0, and the surprise endless."""
    found = surprise_of_values(
        Distribution(np.array([0.0, 5.0, 9.0]), np.array([1 - 1e-18, 1e-18, 0.0])), 1.0
    )
    assert found[:2] == pytest.approx([0.0, -np.log2(1e-18)])
    assert np.isinf(found[2])
