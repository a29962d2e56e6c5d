"""Room that is kept between searches holds nothing that a later one could read, and no two threads share it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import equivoc as eq
from equivoc.measure import entropy, workplace


@pytest.fixture(autouse=True)
def none_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy, "TWO_THREADS_FROM", 100)
    monkeypatch.setattr(workplace, "_kept", [])


def posterior(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return rng.random(n), p / p.sum()


def on_one_thread(x: np.ndarray, p: np.ndarray, eps: float, monkeypatch: pytest.MonkeyPatch) -> float:
    with monkeypatch.context() as patch:
        patch.setattr(entropy, "TWO_THREADS_FROM", 1 << 40)
        return eq.entropy_at(x, p, eps)


def test_larger_and_smaller_ones_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, n in enumerate((3000, 500, 2999, 4000, 150, 4000)):
        x, p = posterior(n, seed)
        for eps in (0.003, 0.05, 0.4):
            expected = on_one_thread(x, p, eps, monkeypatch)
            assert eq.entropy_at(x, p, eps) == pytest.approx(expected, abs=1e-11)


def test_many_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    posteriors = [posterior(n, n) for n in range(800, 3200, 100)]
    expected = [on_one_thread(x, p, 0.02, monkeypatch) for x, p in posteriors]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda given: eq.entropy_at(*given, 0.02), posteriors))
    assert found == pytest.approx(expected, abs=1e-11)
    assert 0 < len(workplace._kept) <= workplace.MOST_KEPT


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workplace, "LARGEST_KEPT", 1000)
    eq.entropy_at(*posterior(4000, 1), 0.01)
    assert workplace._kept == []


def test_two_blocks_have_room_of_their_own() -> None:
    with workplace.workplace(10) as one:
        kept_by_one = one.doubles
    with workplace.workplace(8) as first, workplace.workplace(10) as second:
        assert np.shares_memory(first.doubles, kept_by_one)
        parts = [first.doubles, first.integers, first.sums, first.values, second.doubles, second.integers]
        for a, part in enumerate(parts):
            assert part.flags.c_contiguous
            assert not any(np.shares_memory(part, other) for other in parts[a + 1 :])
        assert first.doubles.shape[1] == first.integers.shape[1] == 10
        assert (len(first.sums), len(first.values)) == (9, 8)
