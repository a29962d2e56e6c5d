"""The parameters of a technique as its own class describes them: fields, the texts below them, settings, choices."""

from __future__ import annotations

import ast
import inspect
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, Literal

from equivoc.techniques.setting import Setting
from equivoc.techniques.technique import WORDS, Technique

Kind = Literal["number", "choice", "columns", "flag", "file", "text"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a technique."""

    name: str
    kind: Kind
    meaning: str
    """What it is, as the technique's class says below the field."""
    required: bool
    """True if the technique cannot do without it."""
    default: Any
    """None if it is required, or if the technique then decides itself."""
    choices: tuple[str, ...] | None
    """The words of a choice, or those that stand for columns; None otherwise."""
    setting: Setting | None
    """The useful range of a number; None otherwise."""


@cache
def parameters_of(technique: type[Technique]) -> tuple[Parameter, ...]:
    """The parameters, in the order of the class.

    >>> from equivoc.techniques.rounding import Rounding
    >>> [(each.name, each.kind, each.choices) for each in parameters_of(Rounding)][:2]
    [('base', 'number', None), ('method', 'choice', ('nearest', 'random'))]
    """
    told = _texts_below_fields(technique)
    settings = {each.parameter: each for each in technique.settings}
    found = []
    for each in fields(technique):
        setting = settings.get(each.name)
        kind = _kind(technique, each.name, each.default, setting)
        choices = technique.choices.get(each.name)
        found.append(
            Parameter(
                each.name,
                kind,
                told.get(each.name) or ("" if setting is None else setting.meaning),
                each.default is MISSING,
                None if each.default is MISSING else each.default,
                WORDS if kind == "columns" else choices,
                setting,
            )
        )
    return tuple(found)


def first_sentence(technique: type) -> str:
    """The first sentence of the class's docstring, as plain text.

    >>> from equivoc.techniques.suppression.suppression import Suppression
    >>> first_sentence(Suppression).endswith(".")
    True
    """
    return _plain(inspect.cleandoc(technique.__doc__ or "").split("\n\n")[0].split(". ")[0].rstrip(".") + ".")


def _kind(technique: type[Technique], name: str, default: object, setting: Setting | None) -> Kind:
    if name in technique.files:
        return "file"
    if name in technique.choices:
        return "choice"
    if setting is not None:
        return "number"
    if name == "on":
        return "columns"
    return "flag" if isinstance(default, bool) else "text"


def _texts_below_fields(technique: type[Technique]) -> dict[str, str]:
    """The text below each annotated name of the class's source."""
    body = ast.parse(inspect.cleandoc(inspect.getsource(technique))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for each, below in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(each, ast.AnnAssign)
            and isinstance(each.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            found[each.target.id] = _plain(below.value.value)
    return found


def _plain(text: str) -> str:
    """Without line ends and the backticks of code."""
    return " ".join(text.split()).replace("``", "").replace("`", "")
