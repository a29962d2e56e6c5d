"""A slow, independent computation of the measure: plain Python, exact masses, nothing imported from equivoc.

Masses are sums of probabilities as exact integers (every float is a whole multiple of 2^-1074), rounded once. Pairs are
compared as exact fractions under the documented tie rule: a window of length ε covers two values if their difference
is at most ε, or exceeds it by no more than 4 units in the last place of the posterior's largest value and no
more than 2^-20 of ε.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FINEST = 1 << 1074
ROUNDING = Fraction(1, 2**50)  # 4 units in the last place of 1
MILLIONTH = Fraction(1, 2**20)


def merged(values: Sequence[float], probabilities: Sequence[float]) -> tuple[list[float], list[int]]:
    """Distinct values of positive probability, ascending, and their probabilities in units of 2^-1074."""
    mass: dict[float, int] = {}
    for x, p in zip(values, probabilities, strict=True):
        if p > 0:
            numerator, denominator = float(p).as_integer_ratio()
            mass[float(x)] = mass.get(float(x), 0) + numerator * (FINEST // denominator)
    x = sorted(mass)
    return x, [mass[v] for v in x]


def loss(mass: int) -> float:
    """−q log2 q of an exact mass."""
    q = mass / FINEST
    return -q * math.log2(q) if q > 0 else 0.0


def reach(values: Sequence[float], eps: float) -> Fraction:
    """The largest difference that a window of length ε covers under the tie rule."""
    largest = max(abs(Fraction(v)) for v in values)
    return Fraction(eps) + min(ROUNDING * largest, MILLIONTH * Fraction(eps))


def window_starts(x: Sequence[float], eps: float) -> list[int]:
    """For each value the first value that one window of length ε covers with it."""
    limit = reach(x, eps)
    exact = [Fraction(v) for v in x]
    starts, k = [], 0
    for i in range(len(x)):
        while exact[i] - exact[k] > limit:
            k += 1
        starts.append(k)
    return starts


class PlainRecurrence:
    """D(i) = min over j of D(j−1) + φ(P_i − P_{j−1}), the paper's own; O(n²) for one ε."""

    def __init__(self, values: Sequence[float], probabilities: Sequence[float]) -> None:
        self.x, masses = merged(values, probabilities)
        sums = [0]
        for m in masses:
            sums.append(sums[-1] + m)
        self.loss = [[loss(sums[i] - sums[j]) for j in range(i)] for i in range(len(sums))]
        self.sums = sums

    def entropy(self, eps: float) -> float:
        starts = window_starts(self.x, eps)
        if starts[-1] == 0:
            return 0.0
        D = [0.0]
        for i in range(1, len(self.x) + 1):
            D.append(min(D[j] + self.loss[i][j] for j in range(starts[i - 1], i)))
        return D[-1]

    def hit(self, eps: float) -> float:
        """V(ε), trying every window."""
        limit, x = reach(self.x, eps), [Fraction(v) for v in self.x]
        covered = [(j, i) for i in range(len(x)) for j in range(i + 1) if x[i] - x[j] <= limit]
        return max(self.sums[i + 1] - self.sums[j] for j, i in covered) / FINEST

    def area(self) -> float:
        """The exact sum over all differences; pairs are compared without any tolerance."""
        x = [Fraction(v) for v in self.x]
        differences = sorted({b - a for i, a in enumerate(x) for b in x[i:]})
        terms = []
        for low, high in itertools.pairwise(differences):
            starts, k, D = [], 0, [0.0]
            for i in range(len(x)):
                while x[i] - x[k] > low:
                    k += 1
                starts.append(k)
                D.append(min(D[j] + self.loss[i + 1][j] for j in range(k, i + 1)))
            terms.append(D[-1] * float(high - low))
        return math.fsum(terms)


def set_partitions(n: int) -> Iterator[list[int]]:
    """All partitions of {0 … n−1}, each as a list of bit masks; neighbours or not."""

    def place(item: int, blocks: list[int]) -> Iterator[list[int]]:
        if item == n:
            yield blocks
            return
        for b in range(len(blocks)):
            yield from place(item + 1, [*blocks[:b], blocks[b] | 1 << item, *blocks[b + 1 :]])
        yield from place(item + 1, [*blocks, 1 << item])

    return place(0, [])


class EveryPartition:
    """H(ε) as the least entropy over all set partitions whose blocks have diameter ≤ ε; for up to 8 values."""

    def __init__(self, values: Sequence[float], probabilities: Sequence[float]) -> None:
        self.x, masses = merged(values, probabilities)
        n = len(self.x)
        members = [[i for i in range(n) if subset >> i & 1] for subset in range(1 << n)]
        block_loss = [loss(sum(masses[i] for i in inside)) for inside in members]
        diameter = [
            Fraction(self.x[inside[-1]]) - Fraction(self.x[inside[0]]) if inside else Fraction(0)
            for inside in members
        ]
        least: dict[Fraction, float] = {}
        for blocks in set_partitions(n):
            widest = max(diameter[b] for b in blocks)
            entropy = math.fsum(block_loss[b] for b in blocks)
            least[widest] = min(entropy, least.get(widest, math.inf))
        self.levels: list[tuple[Fraction, float]] = []  # (from this ε on, H)
        for widest in sorted(least):
            before = self.levels[-1][1] if self.levels else math.inf
            self.levels.append((widest, min(before, least[widest])))
        self.levels[-1] = (self.levels[-1][0], 0.0)

    def entropy(self, eps: float) -> float:
        limit = reach(self.x, eps)
        if self.levels[-1][0] <= limit:
            return 0.0
        return min(h for widest, h in self.levels if widest <= limit)

    def area(self) -> float:
        steps = zip(self.levels, self.levels[1:], strict=False)
        return math.fsum(h * float(right - left) for (left, h), (right, _) in steps)


def vectorised_entropy(
    values: NDArray[np.float64], probabilities: NDArray[np.float64], eps: float, slack: float = 0.0
) -> float:
    """The plain recurrence for some thousand sorted, distinct values: one NumPy line per value, extended precision."""
    sums = np.concatenate(([0], np.cumsum(probabilities.astype(np.longdouble))))
    D = np.zeros(len(values) + 1)
    for i in range(1, len(values) + 1):
        k = np.count_nonzero(values[i - 1] - values[:i] > eps + slack)
        mass = np.maximum((sums[i] - sums[k:i]).astype(np.float64), 5e-324)
        D[i] = np.min(D[k:i] - mass * np.log2(mass))
    return float(D[-1])
