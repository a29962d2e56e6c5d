"""Parameters that no array of whole numbers can hold: a sentence, or the same release as for the float."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.techniques.notation import technique_from

PEOPLE = eq.Microdata(
    pd.DataFrame({"age": [20, 30, 40, 50] * 6, "pay": np.arange(24) * 1e30}), confidential="pay", keys=["age"]
)


@pytest.mark.parametrize(
    ("whole", "float_"),
    [
        (eq.Rounding(base=10**31), eq.Rounding(base=1e31)),
        (eq.TopBottomCoding(low=10**30, high=10**31), eq.TopBottomCoding(low=1e30, high=1e31)),
    ],
)
def test_whole_numbers_of_more_than_63_bits(whole: eq.Technique, float_: eq.Technique) -> None:
    """numpy holds them as objects, which its functions refuse with a TypeError."""
    assert whole == float_
    one, other = (eq.assess(PEOPLE, technique, seed=3) for technique in (whole, float_))
    assert one.summary == other.summary


@pytest.mark.parametrize("number", ["1" + "0" * 400, "-1" + "0" * 400])
@pytest.mark.parametrize(
    "notation",
    [
        "rounding:base=",
        "top-bottom-coding:low=",
        "top-bottom-coding:high=",
        "geometric-noise:epsilon=",
        "noisy-table:epsilon=",
        "noise-addition:percent=",
        "sampling:fraction=",
        "swapping:rate=",
        "pram:keep=",
        "generalisation:k=3,hierarchies=",
        "generalisation:k=3,suppress=",
    ],
)
def test_numbers_that_no_float_can_hold(notation: str, number: str) -> None:
    with pytest.raises(eq.InputError):
        technique_from(notation + number)


def test_the_budget_of_noise() -> None:
    with pytest.raises(eq.InputError, match="epsilon is"):
        eq.NoisyCells(epsilon=10**400)
    assert eq.NoisyTable(epsilon=10**31) == eq.NoisyTable(epsilon=1e31)
    assert eq.GeometricNoise(epsilon=10**31) == eq.GeometricNoise(epsilon=1e31)
    assert eq.NoisyCells(epsilon=10**31) == eq.NoisyCells(epsilon=1e31)


def test_the_range_of_a_choice() -> None:
    """Whole steps between numbers of 31 digits became whole numbers of 31 digits."""
    done = eq.choose(PEOPLE, eq.Rounding, low=1e31, high=3e31, require=["gain <= 100"], seed=0)
    assert done.chosen is not None
