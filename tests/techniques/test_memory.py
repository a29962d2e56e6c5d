"""Tables that would not fit in memory are rejected before they are allocated, with their size in the message."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc import checks as memory


def many(values: int, key=None) -> eq.Microdata:
    frame = pd.DataFrame({"key": np.zeros(values) if key is None else key, "pay": np.arange(values)})
    return eq.Microdata(frame, confidential="pay", keys=["key"])


def test_noise_on_a_key_of_sixty_thousand_values_is_refused() -> None:
    with pytest.raises(
        eq.InputError, match=r"the noise of 'key' has 60,000 × 60,000 numbers and would take 26\.8 GiB"
    ):
        eq.NoiseAddition(percent=10).release(many(60_000, key=np.arange(60_000)), 0)


def test_a_grid_that_grows_is_counted_as_released() -> None:
    with pytest.raises(eq.InputError, match=r"3,000 × 152,950 numbers and would take 3\.4 GiB"):
        eq.NoiseAddition(percent=5_000, edge="extend").release(many(3_000, key=np.arange(3_000)), 0)
    with pytest.raises(eq.InputError, match=r"the noise of 'pay' has 1 × 300,020,000 numbers"):
        eq.NoiseAddition(percent=1_000_000, edge="extend").release(many(30_000), 0)


@pytest.mark.parametrize("percent", [1e9, 1_000_001, -1, float("nan"), float("inf")])
def test_too_much_noise_is_rejected_when_it_is_created(percent: float) -> None:
    with pytest.raises(eq.InputError, match="it must be 0 or more, and at most 1,000,000"):
        eq.NoiseAddition(percent=percent)


def test_a_sample_of_sixty_thousand_values_needs_no_square_table() -> None:
    people = many(60_000)
    release = eq.Sampling(fraction=0.5).release(people, 0)
    found = release.posteriors([], intruder="paper")
    sampled = np.zeros(60_000, dtype=bool)
    sampled[release.drawn] = True
    expected = np.where(sampled, 1, 0) / 60_000 + 0.5 / 60_000
    assert np.asarray(found.probabilities[0]) == pytest.approx(expected, rel=1e-9)
    assert found.probabilities.sum() == pytest.approx(1)


def test_filled_posteriors_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    people = many(40, key=np.arange(40))
    release = eq.Sampling(fraction=0.5).release(people, 1)
    monkeypatch.setattr(memory, "LARGEST_TABLE", 8 * (20 * 40 + 20) - 1)
    with pytest.raises(eq.InputError, match="the posteriors of all classes"):
        _ = release.posteriors(["key"], intruder="paper").probabilities
