"""The informed intruder is as surprised by the truth as she expects to be, if files are drawn from her model."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from tests.intruder.strengths.calibration import excess

CALIBRATED = [
    eq.Unprotected(),
    eq.Sampling(fraction=0.3),
    eq.QueryRestriction(size=4),
    eq.PRAM(keep=0.5, on="confidential"),
    eq.PRAM(keep=0.5),
    eq.PRAM(keep=0.7, on="all"),
    eq.NoiseAddition(percent=60),
    eq.NoiseAddition(percent=60, edge="wrap"),
    eq.GeometricNoise(epsilon=4),
    eq.Rounding(base=30),
    eq.Rounding(base=30, method="random"),
    eq.Rounding(base=2, on="keys"),
    eq.TopBottomCoding(high=30),
    eq.Generalisation(levels="age:1", hierarchies={"age": 2}),
    eq.NoisyTable(epsilon=1),
]
NEARLY = [
    # She takes exchanges as independent of each other, and with a given prior does not count the values in the file.
    eq.Swapping(rate=0.5),
    eq.Swapping(rate=0.5, on="keys"),
    eq.Swapping(rate=0.5, on="all"),
    eq.Swapping(rate=1, window=20),
    # She does not use why these ranges were made, or these values starred.
    eq.Generalisation(k=5),
    eq.Suppression(k=5),
]
OVERCONFIDENT = [
    # Who is in which group tells more than she uses: that the groups have the least sum of squares.
    (eq.Microaggregation(size=3), 0.01, 0.1),
    (eq.Microaggregation(size=3, method="mdav"), 0.005, 0.1),
    (eq.Microaggregation(size=10), 0.1, 0.4),
    # A bell curve stands for where members lie around their mean.
    (eq.Microaggregation(size=3, on="keys"), 0.05, 0.3),
    # Of values averaged together with keys, only how far they lie from their means on average.
    (eq.Microaggregation(size=3, on="all"), 0.05, 0.7),
    (eq.Microaggregation(size=3, on="age+pay"), 0.0, 0.3),
]
MISTAKEN = [
    (eq.PRAM(keep=0.5, on="confidential"), eq.PRAM(keep=0.7, on="confidential")),
    (eq.PRAM(keep=0.5), eq.PRAM(keep=0.8)),
    (eq.NoiseAddition(percent=60), eq.NoiseAddition(percent=25)),
    (eq.GeometricNoise(epsilon=4), eq.GeometricNoise(epsilon=10)),
    (eq.Swapping(rate=0.5), eq.Swapping(rate=0.2)),
    (eq.Swapping(rate=0.5, on="keys"), eq.Swapping(rate=0.2, on="keys")),
    (eq.NoisyTable(epsilon=1), eq.NoisyTable(epsilon=2)),
]


def named(technique):
    return getattr(technique, "notation", "")


@pytest.mark.parametrize("known", [["age"], ["age", "job"]], ids="+".join)
@pytest.mark.parametrize("technique", CALIBRATED, ids=named)
def test_surprise_is_what_she_expects(technique, known):
    assert abs(excess(technique, known=known, files=100).errors) < 3


@pytest.mark.parametrize(("technique", "other"), MISTAKEN, ids=named)
def test_a_wrong_parameter_surprises_her(technique, other):
    found = excess(technique, other)
    assert found.bits > 0.1
    assert found.errors > 5


@pytest.mark.parametrize(("technique", "least", "most"), OVERCONFIDENT, ids=named)
def test_averages_make_her_overconfident_by_a_known_amount(technique, least, most):
    """Bits of 60 people with 6 values; docs/techniques.md states them."""
    assert least < excess(technique, files=100).bits < most


@pytest.mark.parametrize("known", [["age"], ["age", "job"]], ids="+".join)
@pytest.mark.parametrize("technique", NEARLY, ids=named)
def test_nearly_what_she_expects(technique, known):
    found = excess(technique, known=known)
    assert abs(found.bits) < 0.05
    assert found.error < 0.02


@settings(max_examples=10)
@given(technique=st.sampled_from(CALIBRATED), seed=st.integers(0, 2**32), people=st.integers(20, 120))
def test_whatever_the_file(technique, seed, people):
    """More seeds and sizes; 5 standard errors, since there are many examples with `make fuzz`."""
    assert abs(excess(technique, seed=seed, people=people).errors) < 5
