"""What the caller said to a measure, checked: each mistake in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError


def check_people(name: str, given: object) -> None:
    """InputError unless ``given`` is Microdata."""
    if not isinstance(given, Microdata):
        raise InputError(
            f"{name} is a {type(given).__name__}; make people of it with eq.Microdata(…, confidential=…, keys=[…])."
        )


def check_choice(name: str, given: object, allowed: tuple[str, ...]) -> None:
    """InputError unless ``given`` is one of the ``allowed`` words."""
    if given not in allowed:
        raise InputError(f"{name} is {given!r}; it must be one of {', '.join(allowed)}.")


def checked_number(name: str, given: object, wanted: str, fits: Callable[[float], bool]) -> float:
    """The number, if it ``fits``; otherwise an InputError that says what is ``wanted``."""
    if isinstance(given, bool) or not isinstance(given, Real) or not fits(float(given)):
        raise InputError(f"{name} is {given!r}; it must be {wanted}.")
    return float(given)
