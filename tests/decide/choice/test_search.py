"""The search over numbered settings: what it finds, and how many it tries."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.experiments.search import EXHAUSTIVE, GRID, mildest


class Counted:
    """The misses of each setting, with a record of which were asked for."""

    def __init__(self, misses: list[float]) -> None:
        self.misses = misses
        self.asked: list[int] = []

    def __call__(self, place: int) -> float:
        if place not in self.asked:
            self.asked.append(place)
        return self.misses[place]


@given(count=st.integers(1, 300), first=st.integers(0, 300))
def test_bisection_finds_the_first_of_monotone_settings(count: int, first: int) -> None:
    missed = Counted([float(max(0, first - i)) for i in range(count)])
    assert mildest(count, missed, monotone=True) == (first if first < count else None)
    assert len(missed.asked) <= 2 + ceil(log2(max(2, count - 1)))


def test_a_hundred_monotone_settings_take_nine_trials_at_most() -> None:
    most = 0
    for first in range(101):
        missed = Counted([float(max(0, first - i)) for i in range(100)])
        mildest(100, missed, monotone=True)
        most = max(most, len(missed.asked))
    assert most == 9


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=120), st.booleans())
def test_the_result_meets_and_the_next_milder_one_was_tried_and_fails(
    misses: list[float], monotone: bool
) -> None:
    missed = Counted(misses)
    found = mildest(len(misses), missed, monotone=monotone)
    if found is None:
        assert all(misses[place] > 0 for place in missed.asked)
    else:
        assert misses[found] == 0
        assert found in missed.asked
        assert found == 0 or (misses[found - 1] > 0 and found - 1 in missed.asked)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=EXHAUSTIVE))
def test_few_settings_are_searched_completely(misses: list[float]) -> None:
    first = misses.index(0.0) if 0.0 in misses else None
    assert mildest(len(misses), Counted(misses), monotone=False) == first


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=EXHAUSTIVE + 1, max_size=200))
def test_no_setting_of_the_grid_is_milder_and_meets(misses: list[float]) -> None:
    found = mildest(len(misses), Counted(misses), monotone=False)
    grid = [round(i * (len(misses) - 1) / (GRID - 1)) for i in range(GRID)]
    meeting = [place for place in grid if misses[place] == 0]
    if meeting:
        assert found is not None
        assert found <= meeting[0]
        assert all(misses[place] > 0 for place in grid if place < found)


def test_a_narrow_valley_between_grid_points_is_found() -> None:
    """Only settings 60 to 66 of 101 meet the requirements; the grid has 50, 62 and 75."""
    missed = Counted([float(max(0, 60 - i, i - 66)) for i in range(101)])
    assert mildest(101, missed, monotone=False) == 60
    narrower = Counted([float(max(0, 56 - i, i - 59)) for i in range(101)])
    assert mildest(101, narrower, monotone=False) == 56
    assert len(narrower.asked) <= 2 * GRID + 4


@pytest.mark.parametrize("seed", range(5))
def test_a_grid_of_monotone_settings_finds_the_same_as_bisection(seed: int) -> None:
    first = int(np.random.default_rng(seed).integers(0, 120))
    misses = [float(max(0, first - i)) for i in range(120)]
    assert mildest(120, Counted(misses), monotone=False) == mildest(120, Counted(misses), monotone=True)
