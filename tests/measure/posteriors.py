"""Difficult posteriors: ties, duplicates, zeros, differences of one ulp, huge and tiny spreads; and tolerances at
ties."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

ULP_AT_1E15 = 0.125


@dataclass(frozen=True)
class Posterior:
    values: list[float]
    probabilities: list[float]

    @property
    def support(self) -> list[float]:
        """Its distinct values of positive probability, ascending."""
        return sorted({x for x, p in zip(self.values, self.probabilities, strict=True) if p > 0})

    @property
    def spread(self) -> float:
        return self.support[-1] - self.support[0]

    @property
    def rounding(self) -> float:
        """4 units in the last place of the largest value: what the tie rule may move a difference by."""
        return 4 * 2.0**-52 * max(abs(self.support[0]), abs(self.support[-1]))


def normalised(weights: list[float]) -> list[float]:
    total = math.fsum(weights)
    return [w / total for w in weights]


VALUES = {
    "few integers": st.integers(-6, 6).map(float),
    "integers": st.integers(-1000, 1000).map(float),
    "tenths": st.integers(-40, 80).map(lambda k: k / 10),
    "tenths, multiplied": st.integers(0, 80).map(lambda k: k * 0.1),
    "reals": st.floats(-1e3, 1e3, allow_nan=False),
    "ulps at 1e15": st.integers(0, 12).map(lambda k: 1e15 + k * ULP_AT_1E15),
    "ulps far apart at 1e15": st.integers(0, 9).map(lambda k: 1e15 + (k % 3) * 4e6 + (k // 3) * ULP_AT_1E15),
    "integers at -1e15": st.integers(0, 3_000_000).map(lambda k: -1e15 + k),
    "ulps at 1": st.integers(0, 9).map(lambda k: 1 + k * 2.0**-52),
    "tiny": st.integers(-5, 9).map(lambda k: k * 5e-324),
    "near 1e-300": st.floats(1e-301, 1e-299),
    "every magnitude": st.tuples(st.integers(-30, 290), st.integers(-9, 9)).map(
        lambda t: t[1] * 10.0 ** t[0]
    ),
}

WEIGHTS = {
    "uniform": st.just(1.0),
    "few levels": st.sampled_from([1.0, 1.0, 2.0, 4.0, 0.0]),
    "reals": st.floats(1e-3, 1.0),
    "some tiny": st.one_of(st.floats(0.1, 1.0), st.sampled_from([0.0, 1e-300, 1e-200, 1e-30, 1e-17, 1e-9])),
    "halving": st.integers(0, 40).map(lambda k: 2.0**-k),
}


@st.composite
def small_posteriors(draw: st.DrawFn, most: int = 8) -> Posterior:
    """Up to ``most`` candidate values of one family, unsorted, with duplicates and zeros."""
    value = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    weight = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    values = draw(st.lists(value, min_size=1, max_size=most))
    weights = draw(st.lists(weight, min_size=len(values), max_size=len(values)))
    if not any(w >= 1e-3 for w in weights):
        weights[draw(st.integers(0, len(weights) - 1))] = 1.0
    return Posterior(values, normalised(weights))


@st.composite
def tolerances_of(draw: st.DrawFn, posterior: Posterior) -> float:
    """0, a difference of two of its values, just below one, between two, or beyond the range."""
    pick = st.sampled_from(posterior.support)

    def difference() -> float:
        return abs(draw(pick) - draw(pick))

    kind = draw(
        st.sampled_from(["0", "tie", "tie", "tie", "an ulp below", "just below", "between", "beyond"])
    )
    if kind == "tie":
        return difference()
    if kind == "an ulp below":
        return max(math.nextafter(difference(), 0.0), 0.0)
    if kind == "just below":
        return difference() * (1 - 1e-5)
    if kind == "between":
        return 0.5 * (difference() + difference())
    return 0.0 if kind == "0" else posterior.spread * draw(st.floats(1.0, 3.0))


LARGE_VALUES = ("integers", "dense integers", "reals", "clusters", "tenths", "at 1e15")
LARGE_PROBABILITIES = ("uniform", "random", "skewed", "tiny", "zeros", "two heavy")


def large_posterior(
    rng: np.random.Generator, n: int, values: str, probabilities: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """n candidate values (some families repeat values) and their probabilities, in no order."""
    if values == "integers":
        x = rng.integers(-5 * n, 5 * n, n).astype(float)
    elif values == "dense integers":
        x = rng.permutation(n).astype(float)
    elif values == "reals":
        x = rng.normal(size=n) * 1e3
    elif values == "clusters":
        x = rng.integers(0, 8, n) * 100.0 + rng.random(n)
    elif values == "tenths":
        x = rng.integers(0, 3 * n, n) / 10
    else:
        x = 1e15 + rng.integers(0, 4 * n, n) * ULP_AT_1E15
    if probabilities == "uniform":
        w = np.ones(n)
    elif probabilities == "random":
        w = rng.random(n)
    elif probabilities == "skewed":
        w = rng.dirichlet(np.full(n, 0.1)) + 1e-9
    elif probabilities == "tiny":
        w = 10.0 ** -rng.integers(0, 300, n).astype(float)
        w[0] = 1.0
    elif probabilities == "zeros":
        w = rng.random(n) * (rng.random(n) < 0.6)
        w[0] = 1.0
    else:
        w = np.full(n, 1e-3)
        w[rng.integers(0, n, 2)] = 1.0
    return x, w / w.sum()


large_posteriors = st.builds(
    lambda seed, n, values, probabilities: Posterior(
        *(a.tolist() for a in large_posterior(np.random.default_rng(seed), n, values, probabilities))
    ),
    st.integers(0, 2**32),
    st.integers(1, 200),
    st.sampled_from(LARGE_VALUES),
    st.sampled_from(LARGE_PROBABILITIES),
)
