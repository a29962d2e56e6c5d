"""Estimated areas: near the exact ones for every kind of posterior, said to be estimates, and checked when asked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import equivoc as eq
from equivoc.measure.area import estimated_area
from equivoc.measure.distribution import Distribution
from tests.measure.many_values import posteriors, probabilities_of, values_of


def test_every_estimate_is_within_two_percent_and_half_a_percent_on_average() -> None:
    """One of each kind; benchmarks/measure.py does the same with more and larger ones."""
    off = {}
    for k, (name, x, p) in enumerate(posteriors(0, 25, 260, 400)):
        exact = eq.curve(x, p).area
        off[f"{name} ({k})"] = abs(estimated_area(Distribution(x, p)) / exact - 1)
    assert max(off.values()) < 0.02, max(off, key=lambda name: off[name])
    assert np.mean(list(off.values())) < 0.005


@pytest.mark.parametrize("kind", ["spikes", "bumps", "flat"])
def test_many_values_against_certified_bounds(kind: str) -> None:
    rng = np.random.default_rng(2)
    x = values_of("lognormal", rng, 5000)
    p = probabilities_of(kind, rng, x)
    low, high = eq.curve(x, p, tolerance=1e-2).area_bounds
    assert 0.985 * low < estimated_area(Distribution(x, p)) < 1.015 * high


def rows_over(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two rows of 400 values, one of 20, and the first one once more."""
    first, second = (probabilities_of(kind, rng, x) for kind in ("spikes", "random"))
    few = np.zeros(len(x))
    few[:20] = 1 / 20
    return np.stack([first, few, second, first])


def test_which_rows_are_estimated() -> None:
    rng = np.random.default_rng(3)
    x = np.sort(rng.random(400))
    matrix = rows_over(x, rng)
    for kind in (np.asarray, sp.csr_array):
        estimated, certified = eq.curves(x, kind(matrix), tolerance=None), eq.curves(x, kind(matrix))
        assert estimated.estimated.tolist() == [True, False, True, True]
        assert not certified.estimated.any()
        assert estimated.area == pytest.approx(certified.area, rel=0.02)
        assert estimated.area[1] == certified.area[1]
        assert np.isnan(estimated.area_bounds).all(axis=1).tolist() == [True, False, True, True]
        assert np.array_equal(estimated.h0, certified.h0)
        assert np.array_equal(estimated.hit(0.1), certified.hit(0.1))


def test_checked_estimates() -> None:
    rng = np.random.default_rng(4)
    x = np.sort(rng.random(400))
    matrix = rows_over(x, rng)
    many = eq.curves(x, matrix, tolerance=None)
    exact = np.array([eq.curve(x, row).area for row in matrix])
    true_error = np.max(np.abs(many.area / exact - 1))
    assert true_error - 1e-12 <= many.check_estimates(2) <= true_error + 0.011
    assert many.check_estimates(1, seed=5) == many.check_estimates(1, seed=5)
    assert eq.curves(x, matrix).check_estimates() == 0.0
    many._figures[1][0] *= 1.1  # an estimate that is off is found out
    assert many.check_estimates(2) > 0.08


def test_rows_picked_by_number_are_those_rows() -> None:
    rng = np.random.default_rng(5)
    x = np.sort(rng.random(400))
    whole = eq.curves(x, rows_over(x, rng), tolerance=None)
    of = np.array([2, 2, 0, 3, 1])
    picked = whole.rows(of)
    for figure in ("h0", "area", "eps_max", "estimated"):
        assert np.array_equal(getattr(picked, figure), getattr(whole, figure)[of])
    assert np.array_equal(picked.hit(0.1), whole.hit(0.1)[of])
    bounds = np.arange(6)
    found = picked.right_guesses(0.1, np.full(5, x[7]), bounds)
    assert np.array_equal(found, whole.right_guesses(0.1, np.full(4, x[7]), np.arange(5))[of])
