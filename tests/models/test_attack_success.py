"""Intervals of success rates, against scipy and the examples of Newcombe's paper."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from equivoc.models.of_release.attacks import Rate, excess, wilson


@given(st.integers(1, 400), st.floats(0, 1))
def test_wilson_against_scipy(attempts: int, share: float) -> None:
    successes = round(share * attempts)
    expected = binomtest(successes, attempts).proportion_ci(0.95, method="wilson")
    assert wilson(successes, attempts) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_no_attempts_say_nothing() -> None:
    assert Rate(0, 0).share == 0
    assert Rate(0, 0).interval == (0, 1)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 20), (0.6791, 1.0000)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ],
)
def test_newcombes_examples(
    one: tuple[int, int], other: tuple[int, int], expected: tuple[float, float]
) -> None:
    """Newcombe (1998), table II, method 10."""
    difference, interval = excess(Rate(*one), Rate(*other))
    assert difference == pytest.approx(one[0] / one[1] - other[0] / other[1])
    assert interval == pytest.approx(expected, abs=6e-5)
