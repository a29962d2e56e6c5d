"""Old names of arguments: they work until version 1.0, with a warning that names the new one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from equivoc.errors import InputError

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = TypeVar("Kind", bound=type)


def renamed(**new_names: str) -> Callable[[Function], Function]:
    """Decorate a function: it also takes these arguments by their old names, ``tolerance="precision"``."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def with_old_names(*places: Any, **given: Any) -> Any:
            for old in new_names.keys() & given.keys():
                warnings.warn(_sentence(old, new_names[old]), DeprecationWarning, stacklevel=2)
            return function(*places, **in_new_names(given, new_names))

        return cast(Function, with_old_names)

    return decorate


def renamed_field(old: str, new: str) -> Callable[[Kind], Kind]:
    """Decorate a dataclass: a field is also given, and read, by its old name."""

    def value(self: Any) -> Any:
        warnings.warn(_sentence(old, new), DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    def decorate(kind: Kind) -> Kind:
        made: Any = kind
        made.__init__ = renamed(**{old: new})(made.__init__)
        setattr(made, old, property(value, doc=f"The old name of ``{new}``."))
        return kind

    return decorate


def in_new_names(given: Mapping[str, Any], new_names: Mapping[str, str]) -> dict[str, Any]:
    """The arguments by their new names; InputError if one is given by both."""
    for old, new in new_names.items():
        if old in given and new in given:
            raise InputError(f"{old} is the old name of {new}: give {new} only.")
    return {new_names.get(name, name): value for name, value in given.items()}


def _sentence(old: str, new: str) -> str:
    return f"{old} is now called {new}; the old name works until version 1.0."
