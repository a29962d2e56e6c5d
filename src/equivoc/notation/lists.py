"""Declarations of parameters that hold several things: names, numbers, a mapping, or objects with a notation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from equivoc.checks import is_finite
from equivoc.notation.declared import Param, declared


def names(meaning: str, *, default: Any = MISSING, what: str = "names") -> Any:
    """Names of columns, or other texts: a list; one text is a list of one."""

    def fits(given: Any) -> bool:
        return isinstance(given, str) or (_is_list(given) and all(isinstance(each, str) for each in given))

    def read(given: Any) -> tuple[str, ...]:
        return (given,) if isinstance(given, str) else tuple(given)

    return declared(Param("names", meaning, f"a list of {what}", fits, read=read), default)


def numbers(meaning: str, *, default: Any = MISSING) -> Any:
    """Finite numbers: a list, or one number."""

    def fits(given: Any) -> bool:
        return all(is_finite(each) for each in (given if _is_list(given) else [given]))

    def read(given: Any) -> tuple[float, ...]:
        return tuple(given) if _is_list(given) else (given,)

    return declared(Param("numbers", meaning, "a list of finite numbers", fits, read=read), default)


def table(meaning: str, *, default: Any = MISSING, beside: Callable[[Any, Path], Any] | None = None) -> Any:
    """A text, or a list of texts, for each of some names."""

    def fits(given: Any) -> bool:
        return isinstance(given, Mapping) and all(isinstance(name, str) for name in given)

    def read(given: Any) -> dict[str, Any]:
        return {name: list(each) if _is_list(each) else each for name, each in given.items()}

    return declared(Param("table", meaning, "a mapping of names", fits, read=read, beside=beside), default)


def inner(meaning: str, *, default: Any = MISSING, read: Callable[[Any], Any]) -> Any:
    """An object with a notation of its own, such as a technique, or that notation; or several of them."""
    return declared(Param("inner", meaning, read=read, has_separators=True), default)


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, (str, bytes))
