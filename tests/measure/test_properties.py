"""Properties of every posterior."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import equivoc as eq
from tests.measure.posteriors import Posterior, large_posteriors, small_posteriors, tolerances_of

posteriors = st.one_of(small_posteriors(), small_posteriors(40), large_posteriors)
BITS = 1e-11  # see test_against_oracles.py


def test_the_hit_rate_never_falls_by_a_rounding_error_either() -> None:
    """Two windows of 1/3 each, one of them a bit above in doubles; the lower one is the wider."""
    x, p = [0, 1, 5, 9, 20, 20], [1 / 6] * 6
    c, many = eq.curve(x, p), eq.curves(x, [p])
    assert c.hit(0) > 1 / 3
    assert c.hit(0) <= c.hit(1) <= c.hit(2)
    assert many.hit(0)[0] <= many.hit(1)[0]
    assert many.best_windows(1)[1:] == ([0], [1])


@settings(max_examples=80)
@given(st.data(), posteriors)
def test_h_never_rises(data: st.DataObject, posterior: Posterior) -> None:
    x, p = posterior.values, posterior.probabilities
    asked = sorted(data.draw(tolerances_of(posterior)) for _ in range(5))
    c = eq.curve(x, p)
    assert all(b <= a for a, b in itertools.pairwise(c(asked)))
    h = [eq.entropy_at(x, p, e) for e in asked]
    assert all(b <= a + BITS for a, b in itertools.pairwise(h))
    assert eq.entropy_at(x, p, posterior.spread) == 0.0
    hits = c.hit(asked)
    assert all(a <= b for a, b in itertools.pairwise(hits))


@settings(max_examples=80)
@given(st.data(), posteriors)
def test_curve_curves_and_entropy_at_agree(data: st.DataObject, posterior: Posterior) -> None:
    x, p = posterior.values, posterior.probabilities
    c, many = eq.curve(x, p), eq.curves(x, [p, p[::-1]])
    rough = eq.curve(x, p, tolerance=0.5)
    for _ in range(3):
        eps = data.draw(tolerances_of(posterior))
        bits = eq.entropy_at(x, p, eps)
        assert c(eps) == pytest.approx(bits, abs=BITS)
        assert many.at(eps)[0] == pytest.approx(bits, abs=BITS)
        assert many.at(eps)[1] == pytest.approx(eq.entropy_at(x, p[::-1], eps), abs=BITS)
        assert rough(eps) == bits
        assert c.hit(eps) == pytest.approx(many.hit(eps)[0], abs=1e-13)
    assert c([0.0, posterior.spread]).tolist() == [c.h0, 0.0]
    assert many.h0[0] == pytest.approx(c.h0, abs=BITS)


@settings(max_examples=80)
@given(posteriors)
def test_break_points(posterior: Posterior) -> None:
    c = eq.curve(posterior.values, posterior.probabilities)
    assert c.epsilons[0] == 0.0
    assert c.entropies[0] == c.h0
    assert c.entropies[-1] == 0.0
    assert c.epsilons[-1] <= c.eps_max == posterior.spread
    if min(q for q in posterior.probabilities if q > 0) > 1e-9:  # else the last jump is lost in rounding
        assert c.epsilons[-1] == c.eps_max
    assert (np.diff(c.epsilons) > 0).all()
    assert (np.diff(c.entropies) < 0).all()
    # Smaller steps, of 7e-13 nats, are taken for rounding; the first one ends at h0 itself.
    assert (np.diff(c.entropies)[1:] < -9e-13).all()
    assert c(c.epsilons) == pytest.approx(c.entropies, abs=BITS)
    support = posterior.support
    differences = {b - a for i, a in enumerate(support) for b in support[i:]}
    assert set(c.epsilons.tolist()) <= differences


@settings(max_examples=40)
@given(posteriors, st.sampled_from([0.3, 1e-2, 1e-3]))
def test_certified_area_contains_the_exact_one(posterior: Posterior, tolerance: float) -> None:
    x, p = posterior.values, posterior.probabilities
    assume(posterior.spread == 0 or posterior.spread > 1e-290)
    exact, certified = eq.curve(x, p), eq.curve(x, p, tolerance=tolerance)
    low, high = certified.area_bounds
    ties = exact.h0 * min(posterior.rounding, 1e-6 * posterior.spread) + 1e-11 * posterior.spread
    assert low - ties <= exact.area <= high + ties
    # Cumulative sums end at 1, so masses far below their rounding cannot be told apart: areas of 1e-86, say.
    assert high - low <= tolerance * low + 1e-60 * posterior.spread
    assert certified.area == 0.5 * (low + high)
    assert certified.eps_max == exact.eps_max
    assert certified.h0 == exact.h0
    assert not certified.exact


@pytest.mark.parametrize("spread", [5e-324, 1e-310, 1e-305])
def test_certifying_the_area_of_a_tiny_spread_ends(spread: float) -> None:
    low, high = eq.curve([0.0, spread], [0.5, 0.5], tolerance=1e-3).area_bounds
    assert 0 <= low <= high <= spread


def test_differences_that_are_neighbouring_doubles() -> None:
    """Many ties, many differences one unit in the last place apart: bisecting between two of them must end."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 60, 20) / 10
        weights = 10.0 ** -rng.integers(0, 300, 20).astype(float)
        weights[0] = 1.0
        p = weights / weights.sum()
        c = eq.curve(x, p)
        assert (np.diff(c.entropies)[1:] < -9e-13).all()
        for eps in (0.1, 0.5, 1.7):
            assert c(eps) == pytest.approx(eq.entropy_at(x, p, eps), abs=BITS)


def test_certifying_beyond_double_precision_ends() -> None:
    low, high = eq.curve([0.0, 1.0], [0.5, 0.5], tolerance=1e-17).area_bounds
    assert low <= 1.0 <= high + 1e-15
    assert high - low < 1e-14


@settings(max_examples=60)
@given(st.data(), posteriors, st.sampled_from([2.0**-30, 0.5, 2.0, 3.0, 1e3, 0.1]))
def test_scaling_the_values_scales_the_area(data: st.DataObject, posterior: Posterior, s: float) -> None:
    x, p = posterior.values, posterior.probabilities
    assume(max(map(abs, x)) < 1e280)
    assume(min((abs(v) for v in x if v), default=1.0) > 1e-280)
    scaled = [s * v for v in x]
    power_of_two = math.frexp(s)[0] == 0.5
    # A factor that is no power of two rounds the values, and may merge or split ties by more than the slack.
    assume(power_of_two or len(set(scaled)) == len(set(x)))
    assume(power_of_two or posterior.spread > 1e-6 * max(map(abs, x)))
    before, after = eq.curve(x, p), eq.curve(scaled, p)
    slack = 1e-11 * posterior.spread + (0 if power_of_two else before.h0 * posterior.rounding)
    assert after.area == pytest.approx(s * before.area, rel=1e-9, abs=s * slack)
    if power_of_two:
        eps = data.draw(tolerances_of(posterior))
        assert eq.entropy_at(scaled, p, s * eps) == pytest.approx(eq.entropy_at(x, p, eps), abs=BITS)


@settings(max_examples=60)
@given(st.data(), posteriors, st.integers(-(2**40), 2**40))
def test_shifting_the_values_changes_nothing(data: st.DataObject, posterior: Posterior, by: int) -> None:
    x, p = posterior.values, posterior.probabilities
    shifted = [v + by for v in x]
    exactly = all(Fraction(v) + by == Fraction(w) for v, w in zip(x, shifted, strict=True))
    assume(exactly)
    before, after = eq.curve(x, p), eq.curve(shifted, p)
    assert after.area == pytest.approx(before.area, rel=1e-12, abs=1e-11 * posterior.spread)
    assert after.eps_max == before.eps_max
    eps = data.draw(tolerances_of(posterior))
    # Away from ties: the slack follows the size of the values.
    assume(before(eps) == before(eps * (1 + 1e-5)) and before(eps) == before(eps * (1 - 1e-5)))
    assert after(eps) == pytest.approx(before(eps), abs=BITS)


@settings(max_examples=60)
@given(st.data(), posteriors)
def test_splitting_a_value_in_two_equal_ones_changes_nothing(
    data: st.DataObject, posterior: Posterior
) -> None:
    x, p = posterior.values, posterior.probabilities
    i = data.draw(st.integers(0, len(x) - 1))
    twice = [*x, x[i]], [*p[:i], 0.25 * p[i], *p[i + 1 :], 0.75 * p[i]]
    eps = data.draw(tolerances_of(posterior))
    assert eq.entropy_at(*twice, eps) == pytest.approx(eq.entropy_at(x, p, eps), abs=BITS)
    before, after = eq.curve(x, p), eq.curve(*twice)
    assert after.area == pytest.approx(before.area, rel=1e-12, abs=1e-11 * posterior.spread)
    assert eq.curves(twice[0], [twice[1]]).at(eps)[0] == pytest.approx(before(eps), abs=BITS)


@settings(max_examples=60)
@given(st.data(), posteriors, st.randoms())
def test_order_and_impossible_values_change_nothing(
    data: st.DataObject, posterior: Posterior, shuffling: st.random.Random
) -> None:
    x, p = posterior.values, posterior.probabilities
    eps = data.draw(tolerances_of(posterior))
    pairs = [*zip(x, p, strict=True), (min(x) - 1.0, 0.0), (x[0], 0.0), (7.25, 0.0)]
    shuffling.shuffle(pairs)
    y, q = [v for v, _ in pairs], [w for _, w in pairs]
    assert eq.entropy_at(y, q, eps) == pytest.approx(eq.entropy_at(x, p, eps), abs=BITS)
    before, after = eq.curve(x, p), eq.curve(y, q)
    assert after.area == pytest.approx(before.area, rel=1e-12, abs=1e-11 * posterior.spread)
    assert after.eps_max == before.eps_max
    assert after.hit(eps) == pytest.approx(before.hit(eps), abs=1e-13)
    many = eq.curves(y, [q])
    assert many.at(eps)[0] == pytest.approx(before(eps), abs=BITS)
    assert many.eps_max[0] == before.eps_max


@settings(max_examples=100)
@given(st.data(), posteriors)
def test_windows_are_an_optimal_partition(data: st.DataObject, posterior: Posterior) -> None:
    x, p = posterior.values, posterior.probabilities
    eps = data.draw(tolerances_of(posterior))
    windows = eq.curve(x, p).windows(eps)
    support = posterior.support
    reach = Fraction(eps) + min(Fraction(posterior.rounding), Fraction(eps) / 2**20)
    covered: list[float] = []
    for low, high, probability in windows:
        inside = [v for v in support if low <= v <= high]
        covered += inside
        assert (inside[0], inside[-1]) == (low, high)
        assert Fraction(high) - Fraction(low) <= reach
        mass = math.fsum(q for v, q in zip(x, p, strict=True) if low <= v <= high)
        assert probability == pytest.approx(mass, rel=1e-12)
    assert covered == support
    assert math.fsum(w.probability for w in windows) == pytest.approx(1.0, abs=1e-12)
    entropy = -math.fsum(w.probability * math.log2(w.probability) for w in windows)
    assert entropy == pytest.approx(eq.entropy_at(x, p, eps), abs=BITS)
