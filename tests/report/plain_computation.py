"""An independent, slow computation of the facts of a sample: lists, loops, and all windows tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, permutations
from math import log2
from statistics import mean

Row = tuple[object, ...]
Belief = dict[float, float]


class Sample:
    """An intruder's posteriors from a sample, by p = f / |M| + (|M| − |sampled of M|) / |M| · prior."""

    def __init__(self, rows: list[Row], columns: list[str], pay: list[float], drawn: set[int]) -> None:
        self.rows, self.columns, self.pay, self.drawn = rows, columns, pay, drawn
        self.domain = sorted(set(pay))
        self.prior = {d: pay.count(d) / len(pay) for d in self.domain}

    def classes(self, known: Sequence[str]) -> dict[Row, list[int]]:
        places = [self.columns.index(name) for name in known]
        found: dict[Row, list[int]] = {}
        for number, row in enumerate(self.rows):
            found.setdefault(tuple(row[p] for p in places), []).append(number)
        return found

    def belief(self, members: list[int]) -> Belief:
        seen = Counter(self.pay[i] for i in members if i in self.drawn)
        rest = len(members) - sum(seen.values())
        return {d: (seen[d] + rest * self.prior[d]) / len(members) for d in self.domain}

    def truth(self, members: list[int]) -> Belief:
        seen = Counter(self.pay[i] for i in members)
        return {d: seen[d] / len(members) for d in self.domain}

    def mean_h0(self, known: Sequence[str]) -> float:
        return self.over_people(known, lambda members: entropy(self.belief(members), 0.0))

    def over_people(self, known: Sequence[str], figure: object, *, weigh: bool = True) -> float:
        groups = self.classes(known).values()
        if not weigh:
            return mean(figure(members) for members in groups)  # type: ignore[operator]
        return sum(len(m) * figure(m) for m in groups) / len(self.rows)  # type: ignore[operator]

    def shapley(self, known: Sequence[str]) -> dict[str, float]:
        orders = list(permutations(known))
        told = dict.fromkeys(known, 0.0)
        for order in orders:
            for place, key in enumerate(order):
                gained = self.mean_h0(order[:place]) - self.mean_h0(order[: place + 1])
                told[key] += gained / len(orders)
        return told


def entropy(belief: Belief, eps: float) -> float:
    """The least entropy over all ways to cut the values into windows of length ``eps``."""
    values = sorted(v for v, p in belief.items() if p > 0)

    def best(start: int) -> float:
        if start == len(values):
            return 0.0
        options = []
        for end in range(start, len(values)):
            if values[end] - values[start] > eps:
                break
            mass = sum(belief[v] for v in values[start : end + 1])
            options.append(-mass * log2(mass) + best(end + 1))
        return min(options)

    return best(0)


def area(belief: Belief) -> float:
    values = sorted(v for v, p in belief.items() if p > 0)
    steps = sorted({b - a for a in values for b in values if b >= a})
    return sum(entropy(belief, low) * (high - low) for low, high in pairwise(steps))


def best_window(belief: Belief, eps: float) -> tuple[float, float]:
    """The largest mass of any window, and where the lowest such window begins."""
    masses = [(sum(p for v, p in belief.items() if low <= v <= low + eps), -low) for low in belief]
    top = max(mass for mass, _ in masses)
    return top, min(-low for mass, low in masses if mass > top - 1e-12)


def right_share(belief: Belief, eps: float, truth: float) -> float:
    """Of the heaviest windows that lie in no other: the share whose middle is within eps/2 of the truth."""
    held = [value for value, p in belief.items() if p > 0]
    fit = [(a, b) for a in held for b in held if 0 <= b - a <= eps]
    fit = [(a, b) for a, b in fit if not any((c, d) != (a, b) and c <= a and b <= d for c, d in fit)]
    mass = [sum(p for value, p in belief.items() if a <= value <= b) for a, b in fit]
    best = [window for window, m in zip(fit, mass, strict=True) if m > max(mass) - 1e-12]
    return sum(abs((a + b) / 2 - truth) <= eps / 2 for a, b in best) / len(best)
