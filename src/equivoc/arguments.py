"""Words and numbers that a caller gives, checked: each mistake in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Real
from typing import TypeGuard

import numpy as np

from equivoc.errors import InputError


def is_number(given: object) -> TypeGuard[float]:
    """Is it a real number? True and False are none."""
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)


def is_whole(given: object) -> TypeGuard[int]:
    """Is it a whole number? True and False are none, and neither is 2.0.

    >>> is_whole(2), is_whole(2.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def check_choice(name: str, given: object, allowed: tuple[str, ...]) -> None:
    """InputError unless ``given`` is one of the ``allowed`` words."""
    if given not in allowed:
        raise InputError(f"{name} is {given!r}; it must be one of {', '.join(allowed)}.")


def checked_number(name: str, given: object, wanted: str, fits: Callable[[float], bool]) -> float:
    """The number, if it ``fits``; otherwise an InputError that says what is ``wanted``."""
    if isinstance(given, bool) or not isinstance(given, Real) or _too_long(given) or not fits(float(given)):
        raise InputError(f"{name} is {given!r}; it must be {wanted}.")
    return float(given)


def _too_long(given: Real) -> bool:
    """Is it an integer that no float holds?"""
    return isinstance(given, int) and abs(given) > sys.float_info.max
