"""A release without changes equals the unprotected file; one of pure noise leaves the prior."""

from __future__ import annotations

import numpy as np
import pytest

from equivoc.techniques.geometric_noise import GeometricNoise
from equivoc.techniques.noisy_table import NoisyTable
from equivoc.techniques.pram import PRAM
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.top_bottom_coding import TopBottomCoding
from equivoc.techniques.unprotected import Unprotected

SUBSETS = ([], ["age"], ["sex", "age", "job"])


@pytest.mark.parametrize(
    "technique",
    [
        Rounding(base=0.5, on="age+pay"),
        Rounding(base=10, method="random"),
        TopBottomCoding(low=0, high=1000, on="age+pay"),
        PRAM(keep=1, on="all"),
        PRAM({"sex": np.eye(3), "pay": np.eye(7)}),
        GeometricNoise(epsilon=5000),
        NoisyTable(epsilon=800),
    ],
    ids=lambda t: t.name,
)
def test_nothing_changed(people, technique):
    release, bare = technique.release(people, 0), Unprotected().release(people)
    for known in SUBSETS:
        one, other = release.posteriors(known, intruder="paper"), bare.posteriors(known, intruder="paper")
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(one.curves().area, other.curves().area, atol=1e-9)


@pytest.mark.parametrize(
    "technique",
    [
        Rounding(base=1000),
        Rounding(base=1e12, method="random"),
        TopBottomCoding(high=5),
        TopBottomCoding(low=500),
        PRAM(keep=1 / 7, on="confidential"),
        GeometricNoise(epsilon=1e-9),
        GeometricNoise(epsilon=1e-300),
        NoisyTable(epsilon=1e-9),
        NoisyTable(epsilon=1e-300),
    ],
    ids=lambda t: t.notation,
)
def test_pure_noise(people, technique):
    release = technique.release(people, 0)
    for known in SUBSETS:
        np.testing.assert_allclose(
            release.posteriors(known, intruder="paper").probabilities, 1 / 7, rtol=1e-6
        )


def test_random_keys_link_nobody(people):
    """With random keys, the posterior of every class is the distribution of the whole file."""
    release = PRAM({"sex": np.full((3, 3), 1 / 3)}).release(people, 0)
    nobody = Unprotected().release(people).posteriors([], intruder="paper").probabilities[0]
    for row in release.posteriors(["sex"], intruder="paper").probabilities:
        np.testing.assert_allclose(row, nobody, rtol=1e-12)
