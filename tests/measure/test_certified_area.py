"""The certified area: its bounds hold the exact area, and its bounds of H from cells hold H."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

import equivoc as eq
from equivoc.measure import area as certified
from equivoc.measure.area_kernels import bounds_at
from equivoc.parallel import on_one_core
from tests.measure.oracles import vectorised_entropy
from tests.sweeps import spread

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


@pytest.fixture(autouse=True)
def _never_every_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certified, "EVALUATIONS", 0)


@pytest.mark.parametrize(
    ("shape", "size"),
    spread(SHAPES, [(30, 1e-5), (400, 0.5), (400, 1e-2), (1100, 1e-3), (150, 1e-4)], each=2),
)
def test_bounds_hold_the_exact_curve(shape: str, size: tuple[int, float]) -> None:
    n, tolerance = size
    rng = np.random.default_rng(3)
    x, p = SHAPES[shape](rng, n), rng.dirichlet(np.ones(n))
    exact, found = eq.curve(x, p), eq.curve(x, p, tolerance=tolerance)
    low, high = found.area_bounds
    assert low <= exact.area * (1 + 1e-12)
    assert exact.area <= high * (1 + 1e-12)
    assert 0 < high - low <= tolerance * low
    assert found.epsilons[0] == 0.0
    assert found.epsilons[-1] == exact.eps_max
    assert np.all(np.diff(found.epsilons) > 0)
    assert np.all(np.diff(found.entropies) <= 0)
    assert np.all(found.entropies <= [exact(eps) + 1e-9 for eps in found.epsilons])
    between = 0.5 * (found.epsilons[1:] + found.epsilons[:-1])
    for eps, first in ((found.epsilons[:-1], True), (between, False)):
        h = exact(eps)
        assert np.all(found.entropies[1:] <= h + 1e-9)
        assert np.all(h <= found.most_entropies[:-1] + 1e-9), first
    drawn = found.plot().to_dict()
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


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_from_cells_hold_h(shape: str) -> None:
    rng = np.random.default_rng(8)
    x = np.unique(SHAPES[shape](rng, 1500))
    p = rng.dirichlet(np.ones(len(x)))
    cum = np.concatenate(([0.0], np.cumsum(p)))
    spread, apart = x[-1] - x[0], 0
    for eps in spread * np.array([0.02, 0.1, 0.4]):
        for cell in eps * np.array([0.5, 0.1, 0.02]):
            low, high = bounds_at(x, cum, eps, cell)
            exact = vectorised_entropy(x, p, eps) * math.log(2)
            assert low <= exact + 1e-10
            assert exact <= high + 1e-10
            apart += low < high - 1e-6
    assert apart or shape == "one far outlier"  # cells were used; there, they lose nothing


def test_too_coarse_cells_are_replaced_by_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds from cells as wide as the windows would not converge: H is then evaluated on the values themselves."""
    monkeypatch.setattr(certified, "CELL", 1 / 1e-2)
    rng = np.random.default_rng(9)
    x, p = rng.random(900), rng.dirichlet(np.ones(900))
    low, high = eq.curve(x, p, tolerance=1e-2).area_bounds
    exact = eq.curve(x, p).area
    assert low <= exact <= high <= low * (1 + 1e-2)
