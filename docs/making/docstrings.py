"""Griffe extension: prepares docstrings and signatures of the package for the API reference."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?! *\n).+)*", flags=re.MULTILINE)


def fenced(text: str) -> str:
    """The docstring with each example, up to the next empty line, in a fence; Markdown reads ``>>>`` as a quotation."""

    def fence(found: re.Match[str]) -> str:
        indent = found.group(1)
        return f"{indent}```pycon\n{found.group(0)}\n{indent}```"

    return EXAMPLE.sub(fence, text)


class PreparedDocstrings(griffe.Extension):
    """Examples become code, and class variables are no arguments."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Griffe knows ``ClassVar[int]``, but takes a bare ``ClassVar`` for an argument of a dataclass."""
        if str(attr.annotation) == "ClassVar":
            attr.labels.discard("instance-attribute")
