"""The certified area: its bounds hold the exact area, and its two ingredients hold against plain enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import equivoc as eq
from equivoc.measure import area, stretch_kernels
from equivoc.measure.area_bounds import Bounds
from equivoc.measure.distribution import Distribution
from equivoc.measure.overtaking import overtaking_table
from equivoc.measure.parallel import on_one_core

Floats = NDArray[np.float64]
SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "even": lambda rng, n: rng.random(n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "heavy tail on the left": lambda rng, n: -rng.lognormal(0, 2.5, n),
    "clusters": lambda rng, n: rng.integers(0, 40, n) ** 2 + 0.5 * rng.random(n),
    "overlapping clusters": lambda rng, n: rng.integers(0, 5, n) * 3 + rng.random(n) * rng.integers(1, 3, n),
    "one far outlier": lambda rng, n: np.append(rng.random(n - 1), 1e4),
    "whole numbers": lambda rng, n: rng.integers(0, 200_000, n).astype(float),
}


def phi(q: float) -> float:
    return -q * math.log(q) if q > 0 else 0.0


@pytest.fixture(autouse=True)
def _never_every_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(area, "MOST_JUMPS", 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "tolerance"), [(30, 1e-5), (400, 0.5), (400, 1e-2), (1100, 1e-3), (150, 1e-4)])
def test_bounds_hold_the_exact_curve(shape: str, n: int, tolerance: float) -> None:
    rng = np.random.default_rng(3)
    x, p = SHAPES[shape](rng, n), rng.dirichlet(np.ones(n))
    exact, certified = eq.curve(x, p), eq.curve(x, p, tolerance=tolerance)
    low, high = certified.area_bounds
    assert low <= exact.area * (1 + 1e-12)
    assert exact.area <= high * (1 + 1e-12)
    assert 0 < high - low <= tolerance * low
    assert certified.epsilons[0] == 0.0
    assert certified.epsilons[-1] == exact.eps_max
    assert np.all(np.diff(certified.epsilons) > 0)
    assert np.all(np.diff(certified.entropies) <= 0)
    assert np.all(certified.entropies <= [exact(eps) + 1e-9 for eps in certified.epsilons])
    between = 0.5 * (certified.epsilons[1:] + certified.epsilons[:-1])
    for eps, first in ((certified.epsilons[:-1], True), (between, False)):
        h = exact(eps)
        assert np.all(certified.entropies[1:] <= h + 1e-9)
        assert np.all(h <= certified.most_entropies[:-1] + 1e-9), first
    drawn = certified.plot().to_dict()
    points = next(iter(drawn["datasets"].values())) if "datasets" in drawn else drawn["data"]["values"]
    for one, other in pairwise(points):
        assert one["bits"] <= exact(0.5 * (one["eps"] + min(other["eps"], exact.eps_max))) + 1e-9
    assert "at least" in drawn["encoding"]["y"]["title"]
    assert "at least" not in exact.plot().to_dict()["encoding"]["y"]["title"]


def test_the_number_of_threads_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    x, p = rng.lognormal(0, 1, 3000), rng.dirichlet(np.ones(3000))
    several = eq.curve(x, p, tolerance=3e-3)
    with on_one_core():
        one = eq.curve(x, p, tolerance=3e-3)
    assert several.area_bounds == one.area_bounds
    assert np.array_equal(several.epsilons, one.epsilons)
    assert np.array_equal(several.entropies, one.entropies)


def test_most_values_of_even_data_are_left_whole_at_large_tolerances() -> None:
    """Without it the bounds hold all the same, but take several times the work."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.random(4000))
    bounds = Bounds(Distribution(x, np.full(4000, 1 / 4000)))
    interval = bounds.whole
    for _ in range(9):
        interval = bounds.parts(interval, 2)[1 if interval.left < 0.3 else 0]
    assert not interval.stretches.everywhere
    assert len(interval.stretches.solid) < 300
    assert interval.stretches.number == 2**10


# --- windows over stretches: what the lower bound minimises over ----------------------------------------------------


def stretches(
    rng: np.random.Generator, n: int, count: int
) -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.bool_]]:
    """n random values, their cumulative probabilities, and random stretches of them."""
    x = np.sort(rng.random(n))
    cum = np.concatenate(([0.0], np.cumsum(rng.dirichlet(np.ones(n)))))
    cuts = np.sort(rng.choice(np.arange(1, n), count - 1, replace=False))
    begins = np.concatenate(([0], cuts, [n]))
    return x, cum, begins, (rng.random(count) < 0.3) | (np.diff(begins) == 1)


def least_by_trying(x: Floats, cum: Floats, begins: NDArray[np.int64], solid: Floats, eps: float) -> float:
    """A stretch that is solid has to fit in whole, any other need only be touched."""
    cost = [0.0]
    for end in range(1, len(begins)):
        found = math.inf
        for begin in range(end):
            first, last = begin, end - 1
            left = x[begins[first]] if solid[first] else x[begins[first + 1] - 1]
            right = x[begins[last + 1] - 1] if solid[last] else x[begins[last]]
            if right - left <= eps:
                found = min(found, cost[begin] + phi(cum[begins[end]] - cum[begins[begin]]))
        cost.append(found)
    return cost[-1]


def windows_by_trying(lows: Floats, highs: Floats, eps: float) -> int:
    return int(np.triu(lows[None, :] - highs[:, None] <= eps).sum())


@pytest.mark.parametrize(
    ("n", "count", "eps"), [(12, 7, 0.5), (40, 25, 0.2), (400, 260, 0.4), (900, 500, 0.15)]
)
def test_least_cost_over_stretches(n: int, count: int, eps: float) -> None:
    """Few windows are all tried; beyond, the near-linear search is asked."""
    rng = np.random.default_rng(n)
    searched = []
    for _ in range(6):
        x, cum, begins, solid = stretches(rng, n, count)
        lows, highs = stretch_kernels.reaches(x, begins, solid)
        if (lows - highs).max() > eps:
            continue
        cost, boundaries, windows = stretch_kernels.solution(
            cum[begins], lows, highs, eps, overtaking_table()
        )
        assert cost == pytest.approx(least_by_trying(x, cum, begins, solid, eps), abs=1e-12)
        attained = sum(phi(q) for q in -np.diff(cum[begins][boundaries]))
        assert attained == pytest.approx(cost, abs=1e-12)
        assert windows == windows_by_trying(lows, highs, eps)
        searched.append(windows > stretch_kernels.FEW * len(solid) + stretch_kernels.ALWAYS_FEW)
    assert searched == [n >= 400] * len(searched)
    assert searched


# --- where no good partition cuts ------------------------------------------------------------------------------------


def partitions(x: Floats, cum: Floats, eps: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every partition into windows: its inner boundaries, its entropy in nats."""
    n = len(x)
    for count in range(n):
        for inner in itertools.combinations(range(1, n), count):
            bounds = (0, *inner, n)
            if all(x[b - 1] - x[a] <= eps for a, b in itertools.pairwise(bounds)):
                yield inner, sum(phi(cum[b] - cum[a]) for a, b in itertools.pairwise(bounds))


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(0.1, 1.2), st.floats(0.0, 0.6))
def test_no_partition_below_the_limit_cuts_elsewhere(seed: int, count: int, eps: float, more: float) -> None:
    rng = np.random.default_rng(seed)
    x, cum, begins, _ = stretches(rng, 9, count)
    solid = np.diff(begins) == 1  # nothing is taken for granted
    found = list(partitions(x, cum, eps))
    most = min(cost for _, cost in found) + more
    may_cut = stretch_kernels.may_cut_at(x, cum, begins, solid, eps, most, overtaking_table())
    finer, finer_solid = stretch_kernels.refined(x, begins, solid, may_cut, 64)
    assert finer[0] == 0
    assert finer[-1] == 9
    inside_solid = {
        i for g in np.flatnonzero(finer_solid) for i in range(int(finer[g]) + 1, int(finer[g + 1]))
    }
    dead = {int(b) for b in begins[~may_cut]}
    for inner, cost in found:
        if cost < most - 1e-9:
            assert not dead.intersection(inner)
            assert not inside_solid.intersection(inner)


@pytest.mark.parametrize(("eps", "size", "searched"), [(0.55, 15, False), (0.3, 5, True), (0.12, 1, True)])
def test_boundaries_that_are_called_dead(eps: float, size: int, searched: bool) -> None:
    """Few windows are all tried; beyond, the near-linear search and what it leaves out come to the same."""
    rng = np.random.default_rng(6)
    x = np.sort(rng.random(1500))
    cum = np.concatenate(([0.0], np.cumsum(np.full(1500, 1 / 1500))))
    begins = np.arange(0, 1501, size)
    solid = np.full(1500 // size, size == 1)
    lows, highs = stretch_kernels.reaches(x, begins, solid)
    windows = windows_by_trying(lows, highs, eps)
    assert (windows > stretch_kernels.FEW * len(solid) + stretch_kernels.ALWAYS_FEW) == searched
    masses, table = cum[begins], overtaking_table()
    before = least_behind(masses[-1] - masses[::-1], -highs[::-1], -lows[::-1], eps)[::-1]
    through = before + least_behind(masses, lows, highs, eps)
    most = through.min() + 0.01
    may_cut = stretch_kernels.may_cut_at(x, cum, begins, solid, eps, most, table)
    assert np.array_equal(may_cut, through <= most + 1e-9)
    assert may_cut[[0, -1]].all()
    assert may_cut.mean() < 0.6


def least_behind(masses: Floats, lows: Floats, highs: Floats, eps: float) -> Floats:
    """The least cost of every suffix, plainly."""
    count = len(lows)
    cost = np.zeros(count + 1)
    for i in range(count - 1, -1, -1):
        reached = np.searchsorted(lows, highs[i] + eps, side="right")
        q = masses[i + 1 : reached + 1] - masses[i]
        cost[i] = np.min(cost[i + 1 : reached + 1] - q * np.log(q))
    return cost
