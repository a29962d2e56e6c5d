"""Describes an attribute in words: the unit of its distances, its domain, how close a guess is."""

from __future__ import annotations

from typing import NamedTuple

from equivoc.attributes.attribute import Attribute
from equivoc.attributes.geometry import Nested
from equivoc.number_format import amount, counted


class Closeness(NamedTuple):
    """How close a guess at one tolerance is."""

    label: str
    """After "her best guess is": "exact", "within ±5K", "right about the chapter"."""
    phrase: str
    """After "an intruder": "names a random person's exact disease", "is within ±5K of a random person's salary"."""


def measured_in(attribute: Attribute, unit: str = "") -> str:
    """The unit of areas (bits × this): levels, the caller's ``unit``, the attribute's own unit, or its name."""
    return "levels" if isinstance(attribute.geometry, Nested) else unit or attribute.unit or attribute.name


def domain_size(attribute: Attribute) -> str:
    """How many values there are, without naming one: "5 categories under a hierarchy of 3 levels"."""
    if attribute.numeric:
        return counted(len(attribute), "value")
    many = "1 category" if len(attribute) == 1 else f"{len(attribute):,} categories"
    if attribute.ordered:
        return f"{many} in order"
    under = f" under a hierarchy of {len(level_names(attribute))} levels"
    return many + (under if attribute.kind == "tree" else "")


def level_names(attribute: Attribute) -> tuple[str, ...]:
    """The names of the levels of the hierarchy, the values' own first; () if there is none."""
    return attribute.geometry.names if isinstance(attribute.geometry, Nested) else ()


def closeness(attribute: Attribute, eps: float, unit: str = "") -> Closeness:
    """The words for a correct guess at the tolerance ``eps``."""
    whose = f"a random person's {attribute.name}"
    names = level_names(attribute)
    height = min(int(eps), len(names) - 1) if names else eps
    if not height:
        return Closeness("exact", f"names a random person's exact {attribute.name}")
    if names:
        level = names[int(height)]
        level = level if level.startswith("level ") else f"the {level}"
        return Closeness(f"right about {level}", f"is right about {level} of {whose}")
    unit = unit or attribute.unit
    near = f"within ±{amount(eps / 2, 'rank' if unit == 'ranks' and eps == 2 else unit)}"
    return Closeness(near, f"is {near} of {whose}")
