"""A checked posterior: distinct ascending values with positive probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log

import numpy as np
from numpy.typing import ArrayLike

from equivoc.errors import InputError
from equivoc.measure.input.arguments import Floats, check_finite, floats

NATS_PER_BIT = log(2.0)

SUM_TOLERANCE = 1e-9
"""How far the sum of the probabilities may be from 1."""

LARGEST_SPREAD = 1e300

TIE_ROUNDING = 2.0**-50
TIE_SHARE = 2.0**-20
"""A window of length ε also covers a difference that exceeds ε by rounding: by at most 4 units in the last place
of the largest absolute value of the posterior, and at most a millionth of ε."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Candidate values that have positive probability, ascending and distinct, with their probabilities."""

    values: Floats
    probabilities: Floats

    @property
    def spread(self) -> float:
        """Largest less smallest value of positive probability: ε_max, in the attribute's unit."""
        return float(self.values[-1] - self.values[0])

    @property
    def rounding(self) -> float:
        """The largest rounding error of a difference of two values (see TIE_ROUNDING)."""
        return TIE_ROUNDING * max(abs(float(self.values[0])), abs(float(self.values[-1])))

    @property
    def cumulative(self) -> Floats:
        """P_0 = 0, P_1, …, P_n: the running sums of the probabilities."""
        return np.concatenate(([0.0], np.cumsum(self.probabilities)))

    @property
    def shannon(self) -> float:
        """The Shannon entropy, in bits: H(0), computed from the probabilities, not from their cumulative sums."""
        if len(self.values) == 1:  # its probability is 1 up to rounding
            return 0.0
        # A sum of products: the last bits of a dot product depend on the number of BLAS threads.
        return max(-float((self.probabilities * np.log2(self.probabilities)).sum()), 0.0)

    @classmethod
    def of(cls, values: ArrayLike, probabilities: ArrayLike) -> Distribution:
        """Check the two arrays, sort by value, merge equal values, leave out probability 0.

        Raises InputError, naming the argument, the position and the offending value.
        """
        x, p = floats("values", values), floats("probabilities", probabilities)
        if len(x) != len(p):
            raise InputError(f"values has {len(x)} entries but probabilities has {len(p)}; give one each.")
        if len(x) == 0:
            raise InputError("values is empty; give at least one value with its probability.")
        _check_probabilities(p)
        check_finite("values", x)
        if not np.all(x[1:] > x[:-1]):
            order = np.argsort(x)
            x, p = x[order], p[order]
        if p.min() == 0.0:
            x, p = x[p > 0], p[p > 0]
        x, p = _merged(x, p)
        check_spread(x)
        return cls(x, p)


def _check_probabilities(p: Floats) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(p.sum())
    if not isfinite(total):
        check_finite("probabilities", p)
    if p.min() < 0:
        i = int(np.argmax(p < 0))
        raise InputError(f"probabilities[{i}] is {p[i]:g}; probabilities must be 0 or more.")
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"probabilities sum to {total:.12g}, not to 1 (within {SUM_TOLERANCE:g}); "
            "divide them by their sum if they are weights."
        )


def check_spread(ascending: Floats) -> None:
    """InputError if differences, or an area, would exceed the range of double precision."""
    low, high = float(ascending[0]), float(ascending[-1])
    if high - low > LARGEST_SPREAD:
        raise InputError(
            f"values reach from {low:g} to {high:g}; a spread above {LARGEST_SPREAD:g} cannot be measured."
        )


def _merged(x: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Ascending values and their probabilities, each value once with the sum of its probabilities."""
    rises = x[1:] > x[:-1]
    if rises.all():
        return x, p
    first = np.flatnonzero(np.concatenate(([True], rises)))
    return x[first], np.add.reduceat(p, first)
