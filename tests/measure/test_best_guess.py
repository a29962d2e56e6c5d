"""The intruder's best guess compared with true values: by every window, mirrored, and on uniform posteriors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq


def right_by_every_window(x: list[int], w: list[int], eps: Fraction, truth: Fraction) -> Fraction:
    """In exact fractions, over all pairs of ends: of the heaviest windows that no other holds, those that are right."""
    held = [(v, q) for v, q in zip(x, w, strict=True) if q]
    fit = [(a, b) for a, _ in held for b, _ in held if 0 <= b - a <= eps]
    largest = [(a, b) for a, b in fit if not any((c, d) != (a, b) and c <= a and b <= d for c, d in fit)]
    mass = {(a, b): sum(q for v, q in held if a <= v <= b) for a, b in largest}
    best = [window for window, m in mass.items() if m == max(mass.values())]
    return Fraction(sum(abs(Fraction(a + b, 2) - truth) <= eps / 2 for a, b in best), len(best))


@st.composite
def cases(draw):
    x = sorted(draw(st.sets(st.integers(-20, 20), min_size=1, max_size=8)))
    rows = draw(
        st.lists(
            st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)).filter(any), min_size=1, max_size=6
        )
    )
    truths = [sorted(draw(st.lists(st.integers(-50, 50), max_size=5))) for _ in rows]
    return x, rows, truths, draw(st.integers(0, 25)), draw(st.sampled_from([1, 2, 10, 0.1]))


@settings(max_examples=300)
@given(cases(), st.booleans(), st.booleans())
def test_by_every_window(case, sparse: bool, counted: bool) -> None:
    """True values lie at half steps too, just at the limit of a right guess; a scale of 0.1 is not exact in binary."""
    x, rows, truths, eps, scale = case
    matrix = np.array(rows)
    given_rows = matrix if counted else matrix / matrix.sum(axis=1, keepdims=True)
    many = eq.curves(np.array(x) * scale, sp.csr_array(given_rows) if sparse else given_rows, counts=counted)
    flat = np.array([t * 0.5 * scale for truth in truths for t in truth], dtype=np.float64)
    bounds = np.cumsum([0, *map(len, truths)])
    found = many.right_guesses(eps * scale, flat, bounds)
    expected = [
        float(right_by_every_window(x, row, Fraction(eps), Fraction(t, 2)))
        for row, truth in zip(rows, truths, strict=True)
        for t in truth
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-15)


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.floats(0, 30))
def test_mirrored_values_give_mirrored_shares(seed: int, eps: float) -> None:
    rng = np.random.default_rng(seed)
    x = np.unique(rng.integers(0, 60, 25)).astype(float)
    p = rng.choice([0.0, 0.1, 0.1, 0.3], len(x)) + np.eye(1, len(x))[0] * 1e-3
    p /= p.sum()
    ends = np.array([0, len(x)])
    one = eq.curves(x, [p]).right_guesses(eps, x, ends)
    other = eq.curves(-x[::-1], [p[::-1]]).right_guesses(eps, -x[::-1], ends)
    assert one == pytest.approx(other[::-1], abs=1e-15)


@pytest.mark.parametrize("n", [2, 46, 100_000])
def test_a_flat_posterior_shares_the_guess_among_all_values(n: int) -> None:
    """Also where one value's probability is far below the rounding of a running sum."""
    x = np.arange(float(n))
    many = eq.curves(x, [np.full(n, 1 / n)])
    assert many.right_guesses(0, x, np.array([0, n])) == pytest.approx(np.full(n, 1 / n), rel=1e-12)


def test_a_window_narrower_than_the_tolerance_is_right_a_little_beyond_its_ends() -> None:
    """All the mass at 10 and 12; within ±5 of 11 lies 16, which the window itself does not cover."""
    many = eq.curves([0, 10, 12, 30], [[0, 0.5, 0.5, 0]])
    found = many.right_guesses(10, np.array([5.9, 6, 10, 16, 16.1]), np.array([0, 5]))
    assert found.tolist() == [0, 1, 1, 1, 0]


def test_many_rows_with_repeats() -> None:
    """Classes with the same posterior are computed together, but each is compared with its own true values."""
    rng = np.random.default_rng(5)
    kinds = rng.integers(0, 3, (4, 6))
    kinds[:, 0] += 1
    rows = kinds[rng.integers(0, 4, 500)]
    x = np.arange(6.0)
    truths = rng.integers(0, 6, 500).astype(float)
    found = eq.curves(x, rows, counts=True).right_guesses(2, truths, np.arange(501))
    by_hand = {
        (tuple(row), t): float(right_by_every_window(list(range(6)), list(row), Fraction(2), Fraction(t)))
        for row in kinds.tolist()
        for t in range(6)
    }
    assert found.tolist() == [
        by_hand[tuple(row), int(t)] for row, t in zip(rows.tolist(), truths, strict=True)
    ]
