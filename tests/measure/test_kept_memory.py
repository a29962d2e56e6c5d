"""Memory that is kept between calls: what one leaves behind changes nothing for the next, and no two share it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import equivoc as eq
from equivoc.measure import entropy, kept_memory, sorting
from equivoc.measure.kept_memory import room
from equivoc.measure.workplace import workplace


@pytest.fixture(autouse=True)
def none_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy, "TWO_THREADS_FROM", 100)
    monkeypatch.setattr(sorting, "KERNELS_FROM", 100)
    monkeypatch.setattr(sorting, "BUCKET", 64)
    monkeypatch.setattr(kept_memory, "_kept", [])


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


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_memory, "MOST_KEPT", 100)
    with room(60) as older:
        pass
    with room(70) as newer:  # more than is kept; when it comes back, the older one has to go
        pass
    with room(101):  # too much to be kept at all
        pass
    with room(50) as again, room(50) as fresh:
        assert np.shares_memory(again, newer)
        assert not np.shares_memory(fresh, older)
    assert sum(map(len, kept_memory._kept)) <= 100


def test_the_smallest_that_fits_is_lent() -> None:
    with room(20) as small, room(30) as large:
        pass
    with room(15) as first, room(15) as second, room(15) as third:
        assert np.shares_memory(first, small)
        assert np.shares_memory(second, large)
        assert not np.shares_memory(third, first)
        assert not np.shares_memory(third, second)
    with room(7) as little:  # the smallest has more than twice as much
        assert not np.shares_memory(little, small)


def test_parts_of_a_workplace_do_not_overlap() -> None:
    for n in (7, 8):
        with workplace(n) as first, workplace(n) as second:
            parts = [part for of in (first, second) for part in vars(of).values()]
            for a, part in enumerate(parts):
                assert part.flags.c_contiguous
                assert not any(np.shares_memory(part, other) for other in parts[a + 1 :])
            assert first.doubles.shape[1] == first.integers.shape[1] == n + 2
            assert (len(first.sums), len(first.values)) == (n + 1, n)
