"""Estimated areas: near the exact ones for every kind of posterior, said to be estimates, and checked when asked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import equivoc as eq
from equivoc.measure.area.estimated import estimated_area
from equivoc.measure.blocks import measure_blocks
from equivoc.measure.input.distribution import Distribution
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


@pytest.mark.parametrize("tolerance", [None, 1e-2])
def test_blocks_give_what_all_rows_at_once_give(tolerance: float | None) -> None:
    rng = np.random.default_rng(5)
    x = np.sort(rng.random(400))
    matrix = np.concatenate([rows_over(x, rng), rows_over(x, rng)])
    whole = eq.curves(x, matrix, tolerance=tolerance)
    alive = []

    def blocks():
        for begin in range(0, 8, 3):
            alive.append(begin)
            block = matrix[begin : begin + 3]
            yield block if begin else sp.csr_array(block)

    found = measure_blocks(x, blocks(), eps=[0.0, 0.1], tolerance=tolerance)
    assert alive == [0, 3, 6]
    assert len(found) == 8
    assert found.h0 == pytest.approx(whole.h0, abs=1e-12)
    assert found.area == pytest.approx(whole.area, rel=1e-12)
    assert found.eps_max.tolist() == whole.eps_max.tolist()
    assert found.estimated.tolist() == whole.estimated.tolist()
    for eps in (0.0, 0.1):
        for mine, theirs in zip(found.best_windows(eps), whole.best_windows(eps), strict=True):
            assert np.array_equal(mine, theirs)
        assert np.array_equal(found.hit(eps), whole.hit(eps))
    assert found.check_estimates(4) == pytest.approx(whole.check_estimates(4), abs=0.011)
    assert (found.check_estimates(8) > 0) == (tolerance is None)


def test_blocks_refuse_what_cannot_be_answered() -> None:
    with pytest.raises(eq.InputError, match=r"eps is 2; the blocks were measured with eps 1\."):
        measure_blocks([1, 2], [[[0.5, 0.5]]], eps=1).hit(2)
    with pytest.raises(eq.InputError, match="blocks is empty"):
        measure_blocks([1, 2], [])
    with pytest.raises(eq.InputError, match=r"sums to 0\.9"):
        measure_blocks([1, 2], [[[0.5, 0.5]], [[0.5, 0.4]]])
