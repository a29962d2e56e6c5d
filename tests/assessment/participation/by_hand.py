"""The population's distribution of each class in plain Python, record by record: no arrays, no cells, no cleverness."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import log
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import nbinom

STRENGTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)


class Chain:
    """Counts of every record's class, shrunk to the class with one key fewer."""

    def __init__(self, frame: pd.DataFrame, keys: Sequence[str], domain: Sequence[Any]) -> None:
        self.domain = list(domain)
        mean = frame["w"].mean()
        self.records = [
            (dict(zip(keys, row, strict=True)), value, weight / mean)
            for *row, value, weight in frame[[*keys, "pay", "w"]].itertuples(index=False)
        ]
        self.order = self._ordered(list(keys))
        self.strength = max(STRENGTHS, key=lambda each: round(self._alone(self.order, each), 9))

    def distribution(
        self, who: dict[str, Any], without: int | None = None, strength: float | None = None
    ) -> dict[Any, float]:
        """The distribution of the values of people with these keys, from the records without one of them."""
        return self._shrunk(self.order, who, self.strength if strength is None else strength, without)

    def _shrunk(
        self, order: Sequence[str], who: dict[str, Any], strength: float, without: int | None
    ) -> dict[Any, float]:
        found = dict.fromkeys(self.domain, 1 / len(self.domain))
        for length in range(len(order) + 1):
            alike = [
                (value, weight)
                for number, (keys, value, weight) in enumerate(self.records)
                if number != without and all(keys[key] == who[key] for key in order[:length])
            ]
            shrink = strength if length else 0.5
            total = sum(weight for _, weight in alike)
            found = {
                value: (sum(w for v, w in alike if v == value) + shrink * share) / (total + shrink)
                for value, share in found.items()
            }
        return found

    def _alone(self, order: Sequence[str], strength: float) -> float:
        """The mean log probability of each record from the others."""
        total = 0.0
        for number, (keys, value, _) in enumerate(self.records):
            total += log(self._shrunk(order, keys, strength, number)[value])
        return total / len(self.records)

    def _ordered(self, left: list[str]) -> list[str]:
        """The keys, each the one that with those before it predicts records best from their own class."""
        order: list[str] = []
        while left:
            best = max(left, key=lambda key: round(self._class_alone([*order, key]), 9))
            left = [key for key in left if key != best]
            order.append(best)
        return order

    def _class_alone(self, keys: Sequence[str]) -> float:
        total = 0.0
        for number, (own, value, _) in enumerate(self.records):
            alike = [
                (v, w)
                for other, (who, v, w) in enumerate(self.records)
                if other != number and all(who[key] == own[key] for key in keys)
            ]
            likely = sum(w for v, w in alike if v == value) + 5 / len(self.domain)
            total += log(likely / (sum(w for _, w in alike) + 5))
        return total / len(self.records)


def expected_link(records: int, population: float) -> float:
    """E[1/F | f], the sum over F of the negative binomial."""
    if records >= population:
        return 1 / records
    rate = records / population
    sizes = np.arange(records, 60 * population + 1000)
    return float((nbinom.pmf(sizes - records, records, rate) / sizes).sum())


def belief_about(
    values: Sequence[Any], population: float, others: dict[Any, float], longest: int = 1500
) -> dict[Any, float]:
    """The distribution of the target's value: every size of the class in the population, and in each, every one of its
    people in turn as the target. Those in the file have their own value, the others that of the class."""
    found = dict.fromkeys(others, 0.0)
    records = len(values)
    rate = min(records / population, 1.0)
    for size in range(records, longest if rate < 1 else records + 1):
        likely = nbinom.pmf(size - records, records, rate) if rate < 1 else 1.0
        if likely < 1e-16 and size > 2 * population:
            break
        for value in values:  # one of the people in the file is the target
            found[value] += likely / size
        for value, share in others.items():  # one of the size − records others is
            found[value] += likely * (size - records) / size * share
    return found


def tiny_people() -> pd.DataFrame:
    """Twelve records in classes of one to four, with weights that differ within a class."""
    keys = [("F", 1), ("F", 1), ("F", 2), ("M", 1), ("M", 1), ("M", 1), ("M", 1), ("M", 2), ("M", 3)]
    keys += [("F", 3), ("F", 3), ("F", 3)]
    pay = [1, 2, 2, 1, 1, 3, 2, 3, 1, 1, 1, 1]
    weights = [1, 4, 9, 2, 2.5, 3, 7, 1.5, 12, 2, 2, 3]
    rows = [(*key, value, weight) for key, value, weight in zip(keys, pay, weights, strict=True)]
    return pd.DataFrame(rows, columns=["sex", "town", "pay", "w"])


def every_class(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The classes that occur, by both keys."""
    there = {tuple(row) for row in frame[["sex", "town"]].itertuples(index=False)}
    return [each for each in product("FM", (1, 2, 3)) if each in there]
