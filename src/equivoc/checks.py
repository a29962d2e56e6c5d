"""Checks of single arguments, numbers, choices among words, sizes in bytes; and of what is installed."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from numbers import Integral, Real
from typing import TypeGuard

import numpy as np

from equivoc.errors import InputError

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def installed(*packages: str) -> bool:
    """Whether all of these packages are there; none is loaded.

    >>> installed("numpy"), installed("numpy", "a_package_that_is_not")
    (True, False)
    """
    return all(find_spec(package) is not None for package in packages)


def is_number(given: object) -> TypeGuard[float]:
    """True for a real number; Booleans are rejected."""
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)


def is_finite(given: object) -> TypeGuard[float]:
    """True for a real number that a float can hold: neither infinite nor a whole number of hundreds of digits.

    >>> is_finite(10**31), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    return is_number(given) and not _too_long(given) and math.isfinite(given)


def held(given: float) -> float:
    """The number as an array holds it: a whole number of more than 63 bits as a float.

    >>> held(5), held(10**31)
    (5, 1e+31)
    """
    return float(given) if isinstance(given, int) and abs(given) >= 1 << 63 else given


def is_whole(given: object) -> TypeGuard[int]:
    """True for a whole number; Booleans and floats such as 2.0 are rejected.

    >>> is_whole(2), is_whole(2.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def checked_whole_number(name: str, given: object, *, at_least: int) -> int:
    """The argument as an int; InputError unless it is a whole number from ``at_least`` to 2^63 − 1.

    >>> checked_whole_number("seed", 3, at_least=0)
    3
    """
    if isinstance(given, Integral) and not isinstance(given, bool):
        number = int(given)
        if abs(number) >= 1 << 63:  # not in the message: Python cannot print a number of many digits
            raise InputError(f"{name} is a whole number of more than 63 bits; give a smaller one.")
        if number >= at_least:
            return number
    raise InputError(f"{name} is {given!r}; it must be a whole number of {at_least} or more.")


def check_choice(name: str, given: object, allowed: tuple[str, ...]) -> None:
    """InputError unless ``given`` is one of the ``allowed`` words."""
    if given not in allowed:
        raise InputError(f"{name} is {given!r}; it must be one of {', '.join(allowed)}.")


def checked_number(name: str, given: object, wanted: str, fits: Callable[[float], bool]) -> float:
    """The number, if it ``fits``; otherwise an InputError with what is ``wanted``."""
    if isinstance(given, bool) or not isinstance(given, Real) or _too_long(given) or not fits(float(given)):
        raise InputError(f"{name} is {given!r}; it must be {wanted}.")
    return float(given)


def _too_long(given: object) -> bool:
    """True for an integer too large for a float."""
    return isinstance(given, int) and abs(given) > sys.float_info.max


def size_in_bytes(name: str, given: object) -> int:
    """A size: a whole number of bytes, or text with a unit.

    >>> size_in_bytes("memory_limit", "2GiB"), size_in_bytes("memory_limit", "1.5 MB")
    (2147483648, 1500000)
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if isinstance(given, str):
        found = re.fullmatch(r"(\d{1,12}(?:\.\d+)?) ?([KMGT]i?B)", given.strip(), re.IGNORECASE | re.ASCII)
        if found:
            return int(float(found[1]) * _UNITS[found[2].upper()])
    raise InputError(f"{name} is {given!r}; give a size such as 2GiB or 500MB.")


# A limit on the memory of one table, checked before it is allocated.

LARGEST_TABLE = 2 * 2**30
"""The most bytes that one table of numbers may take."""


def check_memory(what: str, *, rows: int, columns: int, advice: str) -> None:
    """InputError if a table of doubles of this size would take more than LARGEST_TABLE."""
    size = 8 * rows * columns
    if size > LARGEST_TABLE:
        raise InputError(
            f"{what} has {rows:,} × {columns:,} numbers and would take {size / 2**30:,.1f} GiB, more than "
            f"{LARGEST_TABLE / 2**30:g} GiB: {advice}."
        )
