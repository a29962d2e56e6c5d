"""entropy_at, curve and curves against brute force over all set partitions and the paper's plain recurrence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from tests.measure.oracles import EveryPartition, PlainRecurrence, vectorised_entropy
from tests.measure.posteriors import (
    LARGE_PROBABILITIES,
    LARGE_VALUES,
    Posterior,
    large_posterior,
    large_posteriors,
    small_posteriors,
    tolerances_of,
)

BITS = 1e-11
"""How far entropies of up to 200 values may be off, in bits.

Each of n sums of probabilities is rounded by u = 2^-53 at most, so the masses of all windows together are off by n·u,
which costs n·u·log2(1/u) = 1.2e-12 bits, in either of two nearly equal partitions; adding n terms of up to 8 bits costs
2e-13; and jumps below 1e-12 bits are not told from rounding. Together less than 4e-12.
"""


def area_slack(posterior: Posterior, area: float) -> float:
    return 1e-11 * posterior.spread + 1e-10 * area + 1e-320  # the last: areas among the smallest doubles


@settings(max_examples=150)
@given(st.data(), small_posteriors())
def test_every_set_partition(data: st.DataObject, posterior: Posterior) -> None:
    x, p = posterior.values, posterior.probabilities
    oracle = EveryPartition(x, p)
    c = eq.curve(x, p)
    many = eq.curves(x, [p])
    assert c.area == pytest.approx(oracle.area(), rel=1e-10, abs=area_slack(posterior, 0))
    tied = c.h0 * min(posterior.rounding, 1e-6 * posterior.spread)  # curves joins tied break points
    assert many.area[0] == pytest.approx(oracle.area(), rel=1e-10, abs=area_slack(posterior, 0) + tied)
    assert c.eps_max == many.eps_max[0] == posterior.spread
    for _ in range(4):
        eps = data.draw(tolerances_of(posterior))
        expected = oracle.entropy(eps)
        assert eq.entropy_at(x, p, eps) == pytest.approx(expected, abs=BITS)
        assert c(eps) == pytest.approx(expected, abs=BITS)
        assert many.at(eps)[0] == pytest.approx(expected, abs=BITS)


@settings(max_examples=120)
@given(st.data(), large_posteriors)
def test_plain_recurrence(data: st.DataObject, posterior: Posterior) -> None:
    x, p = posterior.values, posterior.probabilities
    oracle = PlainRecurrence(x, p)
    c = eq.curve(x, p)
    many = eq.curves(x, [p])
    for _ in range(3):
        eps = data.draw(tolerances_of(posterior))
        expected = oracle.entropy(eps)
        assert eq.entropy_at(x, p, eps) == pytest.approx(expected, abs=BITS)
        assert c(eps) == pytest.approx(expected, abs=BITS)
        assert many.at(eps)[0] == pytest.approx(expected, abs=BITS)


@settings(max_examples=60)
@given(large_posteriors.filter(lambda posterior: len(posterior.values) <= 40))
def test_area_from_all_differences(posterior: Posterior) -> None:
    x, p = posterior.values, posterior.probabilities
    expected = PlainRecurrence(x, p).area()
    assert eq.curve(x, p).area == pytest.approx(expected, abs=area_slack(posterior, expected))
    tied = math.log2(len(x) + 1) * min(posterior.rounding, 1e-6 * posterior.spread)
    assert eq.curves(x, [p]).area[0] == pytest.approx(expected, abs=area_slack(posterior, expected) + tied)


@settings(max_examples=80)
@given(st.data(), st.one_of(small_posteriors(), small_posteriors(30)))
def test_hit_rate_by_every_window(data: st.DataObject, posterior: Posterior) -> None:
    x, p = posterior.values, posterior.probabilities
    eps = data.draw(tolerances_of(posterior))
    expected = PlainRecurrence(x, p).hit(eps)
    assert eq.curve(x, p).hit(eps) == pytest.approx(expected, abs=1e-13)
    many = eq.curves(x, [p])
    assert many.hit(eps)[0] == pytest.approx(expected, abs=1e-13)
    mass, low, high = (float(a[0]) for a in many.best_windows(eps))
    inside = math.fsum(q for v, q in zip(x, p, strict=True) if low <= v <= high)
    assert mass == pytest.approx(inside, abs=1e-13)
    assert high - low <= eps + min(posterior.rounding, 1e-6 * eps)


@pytest.mark.parametrize("values", LARGE_VALUES)
@pytest.mark.parametrize("probabilities", LARGE_PROBABILITIES)
def test_up_to_two_thousand_values(values: str, probabilities: str) -> None:
    rng = np.random.default_rng([LARGE_VALUES.index(values), LARGE_PROBABILITIES.index(probabilities)])
    for n in (300, 2000):
        x, p = large_posterior(rng, n, values, probabilities)
        distinct, where = np.unique(x[p > 0], return_inverse=True)
        masses = np.bincount(where, weights=p[p > 0])
        spread = distinct[-1] - distinct[0]
        slack = 4 * 2.0**-52 * np.abs(distinct[[0, -1]]).max()
        for eps in spread * rng.choice([0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 0.95], 2, replace=False):
            tie = float(np.diff(np.sort(rng.choice(distinct, 2, replace=False)))[0])
            for e in (float(eps), tie):
                expected = vectorised_entropy(distinct, masses, e, min(slack, 1e-6 * e))
                assert eq.entropy_at(x, p, e) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("seed", "share"), [(40, 0.15), (76, 0.3), (211, 0.3), (252, 0.45), (328, 0.3), (328, 0.45)]
)
def test_windows_whose_mass_is_lost_in_the_sums(seed: int, share: float) -> None:
    """Chosen so that an end which leads on by such a window only is the best one somewhere."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(1500))
    w = np.where(rng.random(1500) < 0.03, 1.0, 1e-18)
    p = w / w.sum()
    eps = share * (x[-1] - x[0])
    assert eq.entropy_at(x, p, eps) == pytest.approx(vectorised_entropy(x, p, eps, 0.0), abs=1e-10)


@pytest.mark.parametrize("values", ["integers", "reals", "tenths", "clusters"])
@pytest.mark.parametrize("probabilities", ["uniform", "random", "skewed"])
def test_whole_curve_beyond_the_small_table(values: str, probabilities: str) -> None:
    """More than 256 values: the descent runs on the near-linear search instead of the table of φ."""
    rng = np.random.default_rng(5)
    x, p = large_posterior(rng, 420, values, probabilities)
    c = eq.curve(x, p)
    distinct, where = np.unique(x, return_inverse=True)
    assert len(distinct) > 256
    masses = np.bincount(where, weights=p)
    slack = 4 * 2.0**-52 * np.abs(distinct[[0, -1]]).max()
    inner = rng.choice(len(c.epsilons) - 1, 6, replace=False)
    before_the_next = c.epsilons[inner + 1] * (1 - 1e-9)
    asked = [*c.epsilons[inner], *(0.5 * (c.epsilons[inner] + c.epsilons[inner + 1])), *before_the_next]
    for eps in asked:
        assert c(eps) == pytest.approx(vectorised_entropy(distinct, masses, eps, slack), abs=1e-10)
    assert c.area == pytest.approx(float(np.dot(c.entropies[:-1], np.diff(c.epsilons))), rel=1e-9)
    low, high = eq.curve(x, p, tolerance=1e-3).area_bounds
    assert low <= c.area * (1 + 1e-12)
    assert c.area <= high * (1 + 1e-12)


@pytest.mark.parametrize("heavy", [1.0, 3.0])
def test_every_jump_where_most_partitions_tie(heavy: float) -> None:
    """Equal probabilities on more than 256 neighbouring integers: H at every ε, and a jump wherever it changes."""
    n = 260
    x, weights = np.arange(float(n)), np.ones(n)
    weights[[3, 100, 101]] = heavy
    p = weights / weights.sum()
    levels = np.array([vectorised_entropy(x, p, eps) for eps in range(n - 1)] + [0.0])
    jumps = np.flatnonzero(np.concatenate(([True], np.diff(levels) < -1e-10)))
    c = eq.curve(x, p)
    assert c.epsilons.tolist() == jumps.tolist()
    assert c.entropies == pytest.approx(levels[jumps], abs=1e-10)
    assert c.area == pytest.approx(levels.sum(), rel=1e-10)
