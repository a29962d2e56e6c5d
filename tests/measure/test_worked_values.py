"""The paper's worked example and its two salaries."""

from __future__ import annotations

import pytest

import equivoc as eq

X = [1, 3, 8, 9]
P = [0.15, 0.1, 0.7, 0.05]
H = {0: 1.319, 1: 1.054, 2: 0.811, 3: 0.811, 4: 0.811, 5: 0.811, 6: 0.610, 7: 0.286, 8: 0.0, 9: 0.0}


@pytest.mark.parametrize(("eps", "bits"), H.items())
def test_worked_example(eps: float, bits: float) -> None:
    assert round(eq.entropy_at(X, P, eps), 3) == bits
    assert round(eq.curve(X, P)(eps), 3) == bits
    assert round(float(eq.curves(X, [P]).at(eps)[0]), 3) == bits


def test_worked_figures() -> None:
    c = eq.curve(X, P)
    assert (round(c.h0, 3), round(c.area, 3), c.eps_max) == (1.319, 6.514, 8.0)
    assert c.epsilons.tolist() == [0, 1, 2, 6, 7, 8]
    assert [round(float(h), 3) for h in c.entropies] == [1.319, 1.054, 0.811, 0.610, 0.286, 0.0]
    assert c.area_bounds == (c.area, c.area)
    assert c.exact
    assert [tuple(w) for w in c.windows(2)] == [
        (1.0, 3.0, pytest.approx(0.25)),
        (8.0, 9.0, pytest.approx(0.75)),
    ]
    assert c.hit([0, 1, 2, 5, 7, 8]) == pytest.approx([0.7, 0.75, 0.75, 0.8, 0.95, 1.0])


@pytest.mark.parametrize(("values", "area"), [((77, 80), 3), ((50, 107), 57)])
def test_two_salaries(values: tuple[int, int], area: float) -> None:
    c = eq.curve(values, [0.5, 0.5])
    assert (c.h0, c.area, c.eps_max) == (1.0, area, area)
    many = eq.curves(values, [[0.5, 0.5]])
    assert (many.h0[0], many.area[0], many.eps_max[0]) == (1.0, area, area)


def test_one_value_is_known() -> None:
    c = eq.curve([5, 6], [1, 0])
    assert (c.h0, c.area, c.eps_max, c.epsilons.tolist(), c.entropies.tolist()) == (0, 0, 0, [0], [0])
    assert (c(0), c(3), c.hit(0)) == (0, 0, 1)
    assert [tuple(w) for w in c.windows(0)] == [(5.0, 5.0, 1.0)]
    assert eq.entropy_at([5], [1], 0) == 0.0
    many = eq.curves([5, 6], [[1, 0], [0, 1]])
    assert many.h0.tolist() == many.area.tolist() == many.eps_max.tolist() == [0, 0]
    certified = eq.curve([5], [1], tolerance=1e-3)
    assert (certified.area, certified.eps_max, certified(0)) == (0, 0, 0)
