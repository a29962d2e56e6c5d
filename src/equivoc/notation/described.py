"""What a declaration says to others: sentences for help, rows for the documentation, invalid values for tests."""

from __future__ import annotations

import inspect
from math import inf, nan
from typing import Any

from equivoc.notation.declared import Kind, Param, params


def first_sentence(kind: type) -> str:
    """The first sentence of a class's docstring, as plain text."""
    paragraph = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0]
    return " ".join(paragraph.split(". ")[0].rstrip(".").split()).replace("`", "") + "."


def invalid_values(param: Param) -> list[Any]:
    """Values that the parameter must refuse: of wrong types, not finite, beyond its limits.

    >>> from equivoc.checks import is_number
    >>> share = Param("number", "a share", "from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
    >>> 0.5 in invalid_values(share), 1e300 in invalid_values(share)
    (False, True)
    """
    tried: dict[Kind, list[Any]] = {
        "number": [True, "a text", [1], nan, inf, -inf, -1e300, -1, 0, 0.5, 1e300],
        "choice": ["", "unheard of", 0, True, ["a"]],
        "flag": [0, 1, "true"],
    }
    return [value for value in tried.get(param.kind, []) if not param.fits(value)]


def docs_rows(kind: type) -> list[str]:
    """The rows of a table in Markdown: parameter, meaning, valid values, default."""
    rows = ["| parameter | meaning | valid | default |", "|---|---|---|---|"]
    for each in params(kind):
        valid = each.wanted or ", ".join(
            (*(each.words or ()), *(["names"] if each.kind == "columns" else []))
        )
        default = "required" if each.required else "" if each.default is None else f"`{each.default}`"
        rows.append(f"| `{each.name}` | {each.meaning} | {valid} | {default} |")
    return rows
