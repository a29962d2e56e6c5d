"""The rule for x_i − x_j = ε: differences equal to ε up to rounding are covered, larger ones are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import equivoc as eq

HALVES = [0.5, 0.5]
AT = 1e15
ULP = 0.125


def all_three(values: list[float], probabilities: list[float], eps: float) -> list[float]:
    """H(ε) by entropy_at, curve and curves (dense and sparse)."""
    many = eq.curves(values, [probabilities])
    return [
        eq.entropy_at(values, probabilities, eps),
        eq.curve(values, probabilities)(eps),
        float(many.at(eps)[0]),
    ]


@pytest.mark.parametrize(
    ("values", "eps"),
    [
        ([0.1, 0.4], 0.3),
        ([0.0, 0.1 + 0.2], 0.3),
        ([-0.1, 0.2], 0.3),
        ([1.1, 1.4], 0.3),
        ([100.1, 100.4], 0.3),
        ([1e6 + 0.1, 1e6 + 0.4], 0.3),
        ([0.7, 0.8], 0.1),
        ([4.35, 8.7], 4.35),
    ],
)
def test_decimals_that_tie_are_covered(values: list[float], eps: float) -> None:
    assert all_three(values, HALVES, eps) == [0.0, 0.0, 0.0]
    assert eq.curve(values, HALVES).hit(eps) == 1.0
    assert len(eq.curve(values, HALVES).windows(eps)) == 1


@pytest.mark.parametrize(
    ("values", "eps"),
    [
        ([AT, AT + ULP], 0.0),
        ([AT, AT + 2 * ULP], ULP),
        ([-AT, -AT + 3 * ULP], 2 * ULP),
        ([1.0, math.nextafter(1.0, 2.0)], 0.0),
        ([0.0, 5e-324], 0.0),
        ([0.0, 1e-323], 5e-324),
        ([0.0, 1.0], 1 - 1e-14),
        ([0.0, 0.3], 0.3 - 1e-15),
        ([AT, AT + 1e6 + 1], 1e6),  # 4 units in the last place are 0.89 here
        ([AT, AT + 1000], 1000 - 0.01),  # within rounding, but more than a millionth of ε
    ],
)
def test_values_truly_apart_are_not(values: list[float], eps: float) -> None:
    assert all_three(values, HALVES, eps) == [1.0, 1.0, 1.0]
    assert eq.curve(values, HALVES).hit(eps) == 0.5
    assert len(eq.curve(values, HALVES).windows(eps)) == 2


@pytest.mark.parametrize(
    ("values", "eps"),
    [([AT, AT + 1e6 + 0.75], 1e6), ([AT, AT + 1000], 1000 - 0.0005), ([0.0, 1.0], 1 - 8e-16)],
)
def test_the_slack_is_four_ulps_and_a_millionth(values: list[float], eps: float) -> None:
    assert all_three(values, HALVES, eps) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("values", [[-100.4, -100.1, 0.0], [0.0, 100.1, 100.4], [-0.1, 0.2, 1000.0]])
def test_the_larger_end_decides_how_much_rounding_there_is(values: list[float]) -> None:
    heavy = [0.5, 0.25, 0.25] if values[0] == 0 else [0.25, 0.25, 0.5]
    assert all_three(values, heavy, 0.3) == pytest.approx([1.0] * 3)
    assert all_three(values, heavy, 0.3 - 1e-9) == pytest.approx([1.5] * 3)


@pytest.mark.parametrize("unit", [5e-324, 1e-320])
def test_exact_ties_where_doubles_leave_no_room_for_rounding(unit: float) -> None:
    values, p = [0.0, unit, 3 * unit, 7 * unit], [0.25, 0.25, 0.25, 0.25]
    for eps, bits, hit in (
        (0, 2.0, 0.25),
        (unit, 1.5, 0.5),
        (3 * unit, 0.8112781, 0.75),
        (4 * unit, 0.8112781, 0.75),
    ):
        assert all_three(values, p, eps) == pytest.approx([bits] * 3)
        assert eq.curve(values, p).hit(eps) == eq.curves(values, [p]).hit(eps)[0] == hit
    assert eq.curve(values, p).epsilons.tolist() == [0, unit, 3 * unit, 7 * unit]


@pytest.mark.parametrize("step", [0.1, 0.7, 1 / 3, 1.1])
@pytest.mark.parametrize("n", [11, 25, 64])
def test_a_decimal_grid_behaves_as_the_integer_grid(n: int, step: float) -> None:
    """Every pair k steps apart merges at k steps, whatever rounding did to the differences."""
    p = np.random.default_rng(n).dirichlet(np.ones(n), size=3)
    whole, scaled = eq.curves(np.arange(n), p), eq.curves(np.arange(n) * step, p)
    assert len(scaled.epsilons) == n
    assert scaled.epsilons == pytest.approx(np.arange(n) * step, rel=1e-12)
    assert scaled.entropies == pytest.approx(whole.entropies, abs=1e-12)
    assert scaled.area == pytest.approx(step * whole.area, rel=1e-12)
    for row in p:
        c, d = eq.curve(np.arange(n), row), eq.curve(np.arange(n) * step, row)
        assert d.epsilons == pytest.approx(step * c.epsilons, rel=1e-12)
        assert d.entropies == pytest.approx(c.entropies, abs=1e-12)
        assert d.area == pytest.approx(step * c.area, rel=1e-12)
        for k in (1, 3, n // 2):
            assert eq.entropy_at(np.arange(n) * step, row, k * step) == pytest.approx(c(k), abs=1e-12)


def test_chains_of_differences_within_rounding_are_all_seen() -> None:
    """At 1e15 the differences 4e6, 4e6 + 1/8, … differ by less than the slack, first and last by more."""
    values = [AT, AT + 0.5, AT + 1.0, AT + 4e6, AT + 4e6 + 0.5, AT + 4e6 + 1.0, AT + 9e6]
    p = [0.2, 0.1, 0.1, 0.2, 0.1, 0.2, 0.1]
    many, c = eq.curves(values, [p]), eq.curve(values, p)
    assert many.area[0] == pytest.approx(c.area, rel=1e-6)
    for eps, bits in zip(many.epsilons, many.entropies[0], strict=True):
        assert bits == pytest.approx(eq.entropy_at(values, p, eps), abs=1e-12)
        assert c(eps) == pytest.approx(eq.entropy_at(values, p, eps), abs=1e-12)


def test_a_far_value_does_not_loosen_the_others_by_more_than_a_millionth() -> None:
    assert all_three([0.0, 1.0, 1e15], [0.25, 0.25, 0.5], 1 - 2e-6) == pytest.approx([1.5] * 3)
    assert all_three([0.0, 1.0, 1e15], [0.25, 0.25, 0.5], 1.0) == pytest.approx([1.0] * 3)
