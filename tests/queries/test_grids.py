"""Decimals, even grids, and the domain values between two bounds."""

import numpy as np
import pytest

from equivoc.systems.grids import candidate_span, decimal_places, even_grid


@pytest.mark.parametrize(
    ("numbers", "places"),
    [
        ([3.0, -7.0], 0),
        ([0.5, 2.0], 1),
        ([1e-9], 9),
        ([1e-10], None),
        ([0.1 + 0.2], None),
        ([2.0**53], None),
        ([], 0),
    ],
)
def test_decimal_places(numbers: list[float], places: int | None) -> None:
    assert decimal_places(np.array(numbers)) == places


def test_headroom_keeps_sums_exact() -> None:
    assert decimal_places(np.array([2.0**50])) == 0
    assert decimal_places(np.array([2.0**50]), headroom=8) is None


@pytest.mark.parametrize(
    ("values", "step", "positions"),
    [
        (np.arange(25) * 0.1, 0.1, np.arange(25)),
        (np.array([0, 2, 5, 6]) / 3, 1 / 3, [0, 2, 5, 6]),
        (np.array([-0.7, 0.0, 0.1]), 0.1, [0, 7, 8]),
        (1e6 + np.array([0, 0.3, 0.7, 1.2]), 0.1, [0, 3, 7, 12]),
    ],
)
def test_even_grid_sees_through_rounding(values: np.ndarray, step: float, positions: list[int]) -> None:
    grid = even_grid(values)
    assert grid.step == pytest.approx(step, rel=1e-8)
    np.testing.assert_array_equal(grid.positions, positions)


def test_candidates_survive_rounding_at_both_ends() -> None:
    domain = np.arange(6) * 0.1  # holds 0.30000000000000004
    assert domain[3] > 0.3
    np.testing.assert_array_equal(candidate_span(domain, np.array([[0.1, 0.3]])), [[1, 4]])
    np.testing.assert_array_equal(candidate_span(-domain[::-1], np.array([[-0.3, -0.1]])), [[2, 5]])
    np.testing.assert_array_equal(candidate_span([5.0], np.array([[0.0, 4.9], [5.0, 5.0]])), [[0, 0], [0, 1]])
