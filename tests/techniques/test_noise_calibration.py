"""Calibration of noise addition, from a file to the posteriors of all its people, over many files.

The linkage assumes that all released key combinations are equally likely, which is true for uniform keys
whose noise wraps. There the stated probabilities must agree with the true shares, and those of an intruder who assumes
another percentage must not.
"""

from __future__ import annotations

import pytest

from equivoc.techniques.noise_addition import NoiseAddition
from tests.techniques.calibration import p_value


def noise(percent):
    return NoiseAddition(percent=percent, edge="wrap")


# At 14 % the keys move by one rank and pay by none, at 25 % both by one, at 50 % both by two.
@pytest.mark.parametrize("percent", [14, 25, 50])
def test_stated_probabilities_come_true(percent):
    assert p_value(noise(percent)) > 0.001


@pytest.mark.parametrize(("percent", "believed"), [(14, 25), (25, 14), (25, 50)])
def test_a_wrong_percentage_is_found_out(percent, believed):
    assert p_value(noise(percent), noise(believed)) < 1e-6
