"""Populations drawn from models of class sizes, and samples of them: the class of each person."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata

Ints = NDArray[np.int64]


def pitman(people: int, alpha: float, theta: float, rng: np.random.Generator) -> Ints:
    """Person by person: she founds a class, or joins one of size f with weight f − α."""
    of, sizes = np.empty(people, np.int64), []
    for i in range(people):
        if rng.random() * (theta + i) < theta + len(sizes) * alpha:
            of[i] = len(sizes)
            sizes.append(1)
            continue
        joined = -1
        while joined < 0:  # a random person's class, accepted with chance (f − α)/f
            found = of[rng.integers(i)]
            if rng.random() * sizes[found] < sizes[found] - alpha:
                joined = found
        of[i] = joined
        sizes[joined] += 1
    return of


def poisson_gamma(cells: int, alpha: float, mean: float, rng: np.random.Generator) -> Ints:
    """Every cell has a rate of its own, gamma with shape α."""
    return np.repeat(np.arange(cells), rng.poisson(rng.gamma(alpha, mean / alpha, cells)))


def slide(cells: int, r: float, p: float, rng: np.random.Generator) -> Ints:
    return np.repeat(np.arange(cells), 1 + rng.negative_binomial(r, p, cells))


def uniques(of: Ints) -> int:
    return int(np.count_nonzero(np.unique(of, return_counts=True)[1] == 1))


def sampled(of: Ints, fraction: float, rng: np.random.Generator) -> Microdata:
    drawn = rng.choice(of, round(fraction * len(of)), replace=False)
    return Microdata(
        pa.table({"class": drawn, "pay": np.zeros(len(drawn))}), confidential="pay", keys=["class"]
    )
