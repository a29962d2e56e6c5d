"""The kernels' own logarithm, against the C library's."""

from __future__ import annotations

import math

from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit

from equivoc.measure.logarithm_kernels import log, phi


@njit
def both(q: float) -> tuple[float, float]:
    return log(q), phi(q)


@settings(max_examples=1000)
@given(st.floats(1e-307, 2.0))
@example(1.0)
@example(math.nextafter(1.0, 0.0))
@example(math.sqrt(0.5))
@example(math.nextafter(math.sqrt(0.5), 0.0))
def test_to_the_last_place_or_two(q: float) -> None:
    found, loss = both(q)
    exact = math.log(q)
    assert abs(found - exact) <= 4e-16 * max(abs(exact), min(1.0, 4 * abs(q - 1.0)))
    assert abs(loss + q * exact) <= 4e-16 * q * max(abs(exact), 1.0)


def test_nothing_costs_nothing() -> None:
    assert both(0.0)[1] == 0.0
