"""Answers computed from the confidential values, exact where the values are decimals, and rounded once at the end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.systems.grids import decimal_places
from equivoc.systems.system import Aggregate

_LARGEST_INTEGER = 2**63 - 1
LARGEST_TOTAL = 1e150
"""Sums of all people are smaller, and their squares are numbers too."""


@dataclass(frozen=True, eq=False)
class ConfidentialValues:
    """Each person's confidential value, ready to be aggregated over query sets."""

    numbers: NDArray[np.float64] = field(repr=False)

    def __post_init__(self) -> None:
        largest = float(np.max(np.abs(self.numbers), initial=0.0))
        if largest > LARGEST_TOTAL / max(1, len(self.numbers)):
            raise InputError(
                f"the confidential attribute has the value {largest:g}, too large to add up: give it in a larger unit."
            )

    def answer(self, aggregate: Aggregate, members: NDArray[np.int64]) -> float | None:
        """The aggregate over the people with these record numbers; None is SQL's NULL.

        ``var_samp`` and ``stddev_samp`` divide by n − 1, the others by n; the median of an even number of people is the
        mean of the middle two.

        >>> values = ConfidentialValues(np.array([0.1, 0.2, 0.6]))
        >>> values.answer("sum", np.array([0, 1])), values.answer("avg", np.array([0, 1, 2]))
        (0.3, 0.3)
        >>> values.answer("var_samp", np.array([0])) is None
        True
        """
        count = len(members)
        if aggregate == "count":
            return float(count)
        if not count:
            return None
        if aggregate in ("min", "max"):
            chosen = self.numbers[members]
            return float(chosen.min() if aggregate == "min" else chosen.max())
        if aggregate == "median":
            return self._median(members)
        total = self._total(members)
        if aggregate == "sum":
            return float(total)
        if aggregate == "avg":
            return float(total / count)
        variance = self._variance(members, total, sample=aggregate in ("var_samp", "stddev_samp"))
        if variance is None or aggregate in ("var_samp", "var_pop"):
            return None if variance is None else float(variance)
        return _root(variance)

    @property
    def _factor(self) -> Fraction:
        """Units per 1."""
        return Fraction(10 ** (self._places or 0))

    @cached_property
    def _places(self) -> int | None:
        return decimal_places(self.numbers, headroom=max(1.0, float(len(self.numbers))))

    @cached_property
    def _units(self) -> NDArray[np.int64] | None:
        """The values in units of their last decimal place; None if they are no short decimals."""
        if self._places is None:
            return None
        return np.rint(self.numbers * 10.0**self._places).astype(np.int64)

    def _median(self, members: NDArray[np.int64]) -> float:
        low, high = (len(members) - 1) // 2, len(members) // 2
        if self._units is None:
            middle = np.partition(self.numbers[members], [low, high])
            return float((Fraction(float(middle[low])) + Fraction(float(middle[high]))) / 2)
        units = np.partition(self._units[members], [low, high])
        return float(Fraction(int(units[low]) + int(units[high]), 2) / self._factor)

    def _total(self, members: NDArray[np.int64]) -> Fraction:
        if self._units is None:
            return Fraction(math.fsum(self.numbers[members]))
        return Fraction(int(self._units[members].sum())) / self._factor

    def _variance(self, members: NDArray[np.int64], total: Fraction, *, sample: bool) -> Fraction | None:
        """(n·Σx² − (Σx)²) / (n·(n or n − 1)); None for the sample variance of one person."""
        count = len(members)
        divisor = count - 1 if sample else count
        if divisor == 0:
            return None
        chosen: NDArray[Any] = (self.numbers if self._units is None else self._units)[members]
        if self._units is None:
            squares = sum((Fraction(float(x)) ** 2 for x in chosen), Fraction(0))
            total = sum((Fraction(float(x)) for x in chosen), Fraction(0))
            return (count * squares - total**2) / (count * divisor)
        largest = int(np.abs(chosen).max())
        fits = largest**2 * count <= _LARGEST_INTEGER
        whole = int(np.dot(chosen, chosen)) if fits else sum(int(x) ** 2 for x in chosen)
        return (count * whole / self._factor**2 - total**2) / (count * divisor)


def _root(square: Fraction) -> float:
    """The square root, rounded once."""
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
