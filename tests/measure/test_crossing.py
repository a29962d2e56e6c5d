"""The mass at which an older window start overtakes a newer one, against the equation that defines it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.measure.partition_kernels import NEVER, overtaken_after


def gain(u: float, apart: float) -> float:
    """φ(u + apart) − φ(u) with φ(q) = −q ln q, without cancellation."""
    return -apart * math.log(u + apart) - u * math.log1p(apart / u)


@settings(max_examples=500)
@given(st.floats(-8, 12), st.floats(-12, -0.1))
def test_it_solves_the_equation(ratio_exponent: float, apart_exponent: float) -> None:
    apart = 10.0**apart_exponent
    u = apart * 10.0**ratio_exponent
    found = overtaken_after(gain(u, apart) / apart, apart)
    # As v = u/apart approaches 0, so does y = −v ln v, and the rounding error of y dominates v.
    assert found == pytest.approx(u, rel=4e-10, abs=apart * 1e-13)


def test_starts_that_never_or_always_lead() -> None:
    assert overtaken_after(10.0, 0.1) == -1.0  # the newer one is always more expensive
    assert overtaken_after(-300.0, 0.1) == NEVER
    assert (
        overtaken_after(-math.inf, 0.0) == NEVER
    )  # no probability between them: the cheaper one is always better
    assert overtaken_after(math.nan, 0.0) == -1.0
    assert overtaken_after(math.inf, 0.0) == -1.0
