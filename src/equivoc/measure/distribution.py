"""A posterior as the measure sees it: distinct values, positive probabilities, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.measure.sorting import sorted_pairs
from equivoc.measure.sums import running_sums

Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-9
"""How far the sum of the probabilities may be from 1."""

LARGEST_SPREAD = 1e300

TIE_ROUNDING = 2.0**-50
TIE_SHARE = 2.0**-20
"""A window of length ε also covers a difference that exceeds ε by rounding: by no more than 4 units in the last place
of the posterior's largest value (in absolute terms), and no more than a millionth of ε."""


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
        """How far binary rounding may put a difference of two values off (see TIE_ROUNDING)."""
        return TIE_ROUNDING * max(abs(float(self.values[0])), abs(float(self.values[-1])))

    @property
    def cumulative(self) -> Floats:
        """P_0 = 0, P_1, …, P_n: the running sums of the probabilities."""
        return running_sums(self.probabilities)

    @property
    def shannon(self) -> float:
        """The Shannon entropy, in bits: H(0), summed without detour over cumulative sums."""
        if len(self.values) == 1:  # of probability 1 within rounding
            return 0.0
        return max(float(np.dot(self.probabilities, -np.log2(self.probabilities))), 0.0)

    @classmethod
    def of(
        cls, values: ArrayLike, probabilities: ArrayLike, *, memory: Callable[[int], Floats] = np.empty
    ) -> Distribution:
        """Check the two arrays, sort by value, merge equal values, leave out probability 0.

        ``memory`` gives room for so many doubles, where many pairs have to be sorted.
        Raises InputError, naming the argument, the position and the offending value.
        """
        given_x, given_p = _floats("values", values), _floats("probabilities", probabilities)
        if len(given_x) != len(given_p):
            raise InputError(
                f"values has {len(given_x)} entries but probabilities has {len(given_p)}; give one each."
            )
        if len(given_x) == 0:
            raise InputError("values is empty; give at least one value with its probability.")
        pairs = sorted_pairs(given_x, given_p, memory=memory)
        x, p = pairs.values, pairs.probabilities
        _check_probabilities(given_p, pairs.total, pairs.least)
        if not (isfinite(x[0]) and isfinite(x[-1])):  # else what is in order between them is finite as well
            _check_finite("values", given_x)
        if pairs.least == 0.0:
            x, p = x[p > 0], p[p > 0]
        if not pairs.distinct:
            x, p = _merged(x, p)
        check_spread(x)
        return cls(x, p)


def _check_probabilities(p: Floats, total: float, least: float) -> None:
    """InputError unless these numbers, of which the sum and the least are known, are probabilities."""
    if not isfinite(total):
        _check_finite("probabilities", p)
    if least < 0:
        i = int(np.argmax(p < 0))
        raise InputError(f"probabilities[{i}] is {p[i]:g}; probabilities must be 0 or more.")
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"probabilities sum to {total:.12g}, not to 1 (within {SUM_TOLERANCE:g}); "
            "divide them by their sum if they are weights."
        )


def check_spread(ascending: Floats) -> None:
    """InputError where differences, or an area, would leave the range of double precision."""
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


def numbers(name: str, given: ArrayLike) -> Floats:
    """A one-dimensional float64 array of finite numbers, or InputError about the argument ``name``."""
    floats = _floats(name, given)
    _check_finite(name, floats)
    return floats


def _floats(name: str, given: ArrayLike) -> Floats:
    """A one-dimensional float64 array, or InputError about the argument ``name``."""
    try:
        array: NDArray[Any] = np.asarray(given)
    except ValueError:
        raise InputError(f"{name} is ragged; give a flat list of numbers.") from None
    if array.ndim != 1:
        raise InputError(
            f"{name} has {array.ndim} dimensions (shape {array.shape}); give a flat, one-dimensional list."
        )
    if array.dtype.kind in "SU":  # numbers among text became text; find the text that was given
        array = np.asarray(given, dtype=object)
    if array.dtype.kind not in "fiu" and len(array):
        array = _from_objects(name, array)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array, dtype=np.float64)


def _check_finite(name: str, floats: Floats) -> None:
    """InputError about the first number that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(floats.sum())
    # A finite sum proves that every entry is finite, at a third of the cost of asking each one.
    if not isfinite(total) and not np.isfinite(floats).all():
        i = int(np.argmin(np.isfinite(floats)))
        raise InputError(f"{name}[{i}] is {floats[i]}; only finite numbers can be used.")


def _from_objects(name: str, array: NDArray[Any]) -> Floats:
    """Numbers kept as objects (decimals, fractions, mixed ints); text, dates and truth values are refused."""
    if array.dtype.kind != "O":
        raise InputError(f"{name}[0] is {array[0]}, not a number.")
    floats = np.empty(len(array))
    for i, item in enumerate(array.tolist()):
        if isinstance(item, (str, bytes, bool, np.bool_)):
            raise InputError(f"{name}[{i}] is {item!r}, not a number.")
        try:
            floats[i] = float(item)
        except (TypeError, ValueError):
            raise InputError(f"{name}[{i}] is {item!r}, not a number.") from None
        except OverflowError:
            raise InputError(f"{name}[{i}] is {item}, too large for double precision.") from None
    return floats


def tolerances(name: str, given: ArrayLike) -> Floats:
    """Tolerances ε as a flat float64 array of numbers ≥ 0, or InputError about the argument ``name``."""
    try:
        eps = numbers(name, np.atleast_1d(given))
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{name} is ragged; give a number or a flat list of numbers.") from None
    if len(eps) and eps.min() < 0:
        i = int(np.argmax(eps < 0))
        raise InputError(f"{name}[{i}] is {eps[i]:g}; a tolerance ε must be 0 or more.")
    return eps


def one_tolerance(name: str, given: ArrayLike) -> float:
    """A single tolerance ε ≥ 0, or InputError about the argument ``name``."""
    eps = tolerances(name, given)
    if len(eps) != 1:
        raise InputError(f"{name} holds {len(eps)} tolerances; give one.")
    return float(eps[0])


def check_relative_gap(given: Any, *, exact_allowed: bool) -> float:
    """A relative gap of the area's bounds, below 1; 0 only where an exact area is on offer."""
    gap = numbers("tolerance", np.atleast_1d(given))
    if len(gap) != 1 or not (0.0 < gap[0] < 1.0 or (exact_allowed and gap[0] == 0.0)):
        least = "from 0 (exact)" if exact_allowed else "above 0, such as 1e-3,"
        raise InputError(f"tolerance is {given}; give a relative gap {least} up to, not including, 1.")
    return float(gap[0])
