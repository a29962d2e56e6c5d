"""Posteriors over many values, as they follow from releases: test data for estimated areas."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

VALUES = ("uniform", "lognormal", "Pareto", "heaped", "clustered")
PROBABILITIES = ("spikes", "bumps", "random", "uneven", "flat")


def values_of(kind: str, rng: np.random.Generator, n: int) -> Floats:
    """About n distinct values, ascending."""
    if kind == "uniform":
        x = rng.random(n) * 1e5
    elif kind == "lognormal":
        x = rng.lognormal(10, 1, n)
    elif kind == "Pareto":
        x = rng.pareto(1.5, n) * 1e4
    elif kind == "heaped":  # at round numbers
        x, which = rng.lognormal(10, 0.7, n), rng.random(n)
        x = np.where(which < 0.4, np.round(x, -3), np.where(which < 0.6, np.round(x, -2), np.round(x)))
    else:
        x = rng.integers(0, 8, n) * 1e4 + rng.normal(0, 300, n)
    return np.unique(x)


def probabilities_of(kind: str, rng: np.random.Generator, x: Floats) -> Floats:
    """As after sampling (spikes above a flat prior), as after noise (bumps), or random."""
    n = len(x)
    prior = rng.dirichlet(np.ones(n)) if rng.random() < 0.5 else np.full(n, 1 / n)
    if kind == "spikes":
        outside = rng.choice([0.02, 0.1, 0.3, 0.6, 0.9])
        w = outside * prior
        spikes = int(rng.integers(1, 12))
        w[rng.integers(0, n, spikes)] += (1 - outside) * rng.random(spikes) / spikes
    elif kind == "bumps":
        width = rng.choice([0.005, 0.02, 0.1]) * np.ptp(x)
        centres = rng.choice(x, int(rng.integers(1, 4)))
        w = prior * sum(rng.random() * np.exp(-0.5 * ((x - c) / width) ** 2) for c in centres) + 1e-300
    elif kind == "random":
        w = rng.random(n)
    elif kind == "uneven":
        w = rng.dirichlet(np.full(n, 0.1)) + 1e-12
    else:
        w = np.ones(n)
    return np.asarray(w / w.sum())


def posteriors(seed: int, count: int, least: int, most: int) -> Iterator[tuple[str, Floats, Floats]]:
    """So many posteriors of ``least`` to ``most`` values, all kinds in turn, each with its name."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        values, probabilities = VALUES[k % len(VALUES)], PROBABILITIES[k // len(VALUES) % len(PROBABILITIES)]
        x = values_of(values, rng, int(rng.integers(least, most)))
        yield f"{values}, {probabilities}", x, probabilities_of(probabilities, rng, x)
