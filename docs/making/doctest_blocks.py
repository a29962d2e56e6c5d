"""Griffe extension: examples in docstrings (`>>> …`) become code blocks; Markdown would read them as quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?! *\n).+)*", flags=re.MULTILINE)


def fenced(text: str) -> str:
    """The docstring with each example, up to the next empty line, in a fence of its own."""

    def fence(found: re.Match[str]) -> str:
        indent = found.group(1)
        return f"{indent}```pycon\n{found.group(0)}\n{indent}```"

    return EXAMPLE.sub(fence, text)


class DoctestBlocks(griffe.Extension):
    """Puts fences around the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
