"""Whole numbers that the caller gives: how many, and which seed."""

from __future__ import annotations

from numbers import Integral

from equivoc.errors import InputError


def whole_number(name: str, given: object, *, at_least: int) -> int:
    """The argument as an int; InputError unless it is a whole number, ``at_least`` that large.

    >>> whole_number("seed", 3, at_least=0)
    3
    """
    if isinstance(given, bool) or not isinstance(given, Integral) or given < at_least:
        raise InputError(f"{name} must be a whole number of {at_least} or more, not {given!r}")
    return int(given)
