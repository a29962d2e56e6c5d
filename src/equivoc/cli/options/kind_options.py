"""Options about confidential attributes: their kinds, tolerances and units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equivoc.cli.options.words import names, numbers
from equivoc.errors import InputError


def by_name(option: str, given: Sequence[str] | None, example: str) -> dict[str, str]:
    """``name=text`` of an option that may be repeated, by name.

    >>> by_name("--hierarchy", ["disease=disease.csv"], "")
    {'disease': 'disease.csv'}
    """
    found: dict[str, str] = {}
    for words in given or ():
        name, equals, text = (part.strip() for part in words.partition("="))
        if not (name and equals and text):
            raise InputError(f"{option} {words}: give {example}.")
        if name in found:
            raise InputError(f"{option} is given twice for {name!r}: give it once.")
        found[name] = text
    return found


def hierarchy_files(given: Sequence[str] | None) -> dict[str, Path]:
    """The file of each attribute that ``--hierarchy`` names."""
    files = by_name("--hierarchy", given, "an attribute and its file, such as disease=disease.csv")
    return {name: Path(file) for name, file in files.items()}


def ordered_levels(given: Sequence[str] | None) -> dict[str, list[str]]:
    """The levels of each attribute that ``--ordered`` names, lowest first."""
    levels = by_name("--ordered", given, "an attribute and its levels, such as severity=mild,moderate,severe")
    return {name: names(f"--ordered {name}", text) for name, text in levels.items()}


def category_names(given: Sequence[str] | None) -> list[str]:
    """The attributes that ``--categories`` names."""
    return [name for words in given or () for name in names("--categories", words)]


def one_attribute(command: str, confidential: Sequence[str]) -> None:
    """InputError if several attributes are given to a command that takes one."""
    if len(confidential) > 1:
        raise InputError(
            f"{command} takes one confidential attribute, but --confidential names {', '.join(confidential)}: give "
            f"one, such as --confidential {confidential[0]}."
        )


def asked_tolerances(text: str | None, confidential: Sequence[str]) -> Any:
    """The tolerances of hit rates: numbers, or for several attributes ``salary=5000,disease=1``, by name; None: none.

    >>> asked_tolerances("salary=0,5000,disease=1", ["salary", "disease"])
    {'salary': [0.0, 5000.0], 'disease': [1.0]}
    """
    if text is None:
        return None
    if len(confidential) == 1 and "=" not in text:
        return numbers("--eps", text)
    found: dict[str, list[str]] = {}
    name = ""
    for item in text.split(","):
        if "=" in item:
            name, _, item = (part.strip() for part in item.partition("="))
            if name in found:
                raise InputError(f"--eps names {name!r} twice: give all its tolerances in one place.")
        if name not in confidential:
            whose = (
                f"{name!r} is not confidential"
                if name
                else f"the attribute of the tolerance {item} is missing"
            )
            example = ",".join(f"{attribute}={1 + at}" for at, attribute in enumerate(confidential))
            raise InputError(f"--eps {text}: {whose}; give the tolerances by attribute, such as {example}.")
        found.setdefault(name, []).append(item)
    told = {name: numbers(f"--eps {name}", ",".join(items)) for name, items in found.items()}
    return told if len(confidential) > 1 else told[confidential[0]]


def attribute_units(unit: str, attributes: Mapping[str, Any]) -> dict[str, str]:
    """The unit of each attribute. ``--unit`` needs exactly one numeric attribute; InputError otherwise."""
    of_numbers = [name for name, attribute in attributes.items() if attribute.numeric]
    if unit and len(of_numbers) != 1:
        which = f"{' and '.join(of_numbers)} are numeric" if of_numbers else "none is numeric"
        raise InputError(
            f"--unit {unit} needs exactly one numeric confidential attribute, but {which}: omit it."
        )
    return {name: unit if name in of_numbers else "" for name in attributes}
