"""Checks of the measure's arguments: flat lists of numbers, tolerances ε, relative gaps."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError

Floats = NDArray[np.float64]


def numbers(name: str, given: ArrayLike) -> Floats:
    """A one-dimensional float64 array of finite numbers, or InputError about the argument ``name``."""
    found = floats(name, given)
    check_finite(name, found)
    return found


def floats(name: str, given: ArrayLike) -> Floats:
    """A one-dimensional float64 array, or InputError about the argument ``name``."""
    try:
        array: NDArray[Any] = np.asarray(given)
    except ValueError:
        raise InputError(f"{name} is ragged; give a flat list of numbers.") from None
    if array.ndim != 1:
        raise InputError(
            f"{name} has {array.ndim} dimensions (shape {array.shape}); give a flat, one-dimensional list."
        )
    if array.dtype.kind in "SU":  # NumPy turned numbers beside text into text; go back to the given items
        array = np.asarray(given, dtype=object)
    if array.dtype.kind not in "fiu" and len(array):
        array = _from_objects(name, array)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array, dtype=np.float64)


def check_finite(name: str, given: Floats) -> None:
    """InputError about the first number that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(given.sum())
    # A finite sum proves that every entry is finite, at a third of the cost of testing each.
    if not isfinite(total) and not np.isfinite(given).all():
        i = int(np.argmin(np.isfinite(given)))
        raise InputError(f"{name}[{i}] is {given[i]}; only finite numbers can be used.")


def _from_objects(name: str, array: NDArray[Any]) -> Floats:
    """Numbers kept as objects (decimals, fractions, mixed ints); text, dates and Booleans are rejected."""
    if array.dtype.kind != "O":
        raise InputError(f"{name}[0] is {array[0]}, not a number.")
    found = np.empty(len(array))
    for i, item in enumerate(array.tolist()):
        if isinstance(item, (str, bytes, bool, np.bool_)):
            raise InputError(f"{name}[{i}] is {item!r}, not a number.")
        try:
            found[i] = float(item)
        except (TypeError, ValueError):
            raise InputError(f"{name}[{i}] is {item!r}, not a number.") from None
        except OverflowError:
            raise InputError(f"{name}[{i}] is {item}, too large for double precision.") from None
    return found


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
    """A relative gap of the area's bounds, below 1; 0 only if an exact area is possible."""
    gap = numbers("tolerance", np.atleast_1d(given))
    if len(gap) != 1 or not (0.0 < gap[0] < 1.0 or (exact_allowed and gap[0] == 0.0)):
        least = "from 0 (exact)" if exact_allowed else "above 0, such as 1e-3,"
        raise InputError(f"tolerance is {given}; give a relative gap {least} up to, not including, 1.")
    return float(gap[0])
