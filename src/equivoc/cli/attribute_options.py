"""Options about columns: how a file is read; the kinds of confidential attributes, their tolerances and units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from equivoc.errors import InputError
from equivoc.reading.reading import Reading

# Reads lists of names and numbers, separated by commas, from options.

NOTHING = "none"
"""The value of ``--known`` for an intruder who knows no key, unless a key has that name."""
LONGEST_QUOTED = 40
"""The most characters of a caller's text that a message repeats."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_ITEM = re.compile(rf"(?:^|(?<=,))(?:\s*{_QUOTED.pattern}\s*(?=,|$)|[^,]*)")


def names(option: str, text: str) -> list[str]:
    """Names separated by commas; an empty name, for example from an unset shell variable, is an InputError.

    A name with a comma stands in double quotes, a quote in it twice, as in a CSV file.

    >>> names("--keys", 'age, "Wage, per hour"')
    ['age', 'Wage, per hour']
    """
    items = [match.group() for match in _ITEM.finditer(text)]
    found = [
        each[1:-1].replace('""', '"') if _QUOTED.fullmatch(each) else each for each in map(str.strip, items)
    ]
    if not any(found):
        raise InputError(
            f"{option} is empty; name at least one column"
            + (
                f", or give {option} {NOTHING} for an intruder who knows no key."
                if option == "--known"
                else "."
            )
        )
    if not all(found):
        raise InputError(f"{option} {text}: the name at position {found.index('')} is empty.")
    return found


def numbers(option: str, text: str) -> list[float]:
    """Finite numbers separated by commas."""
    found = []
    for position, item in enumerate(text.split(",")):
        written = item.strip()
        shown = written if len(written) <= LONGEST_QUOTED else f"{written[:LONGEST_QUOTED]}…"
        try:
            number = float(written)
        except ValueError:
            raise InputError(f"{option}: {shown!r} at position {position} is not a number.") from None
        if not isfinite(number):
            raise InputError(f"{option}: {shown!r} at position {position} is not a finite number.")
        found.append(number)
    return found


def domain_values(text: str) -> list[float]:
    """``10:250:10`` or a list of values."""
    if ":" not in text:
        return numbers("--domain", text)
    from equivoc.attributes.numbers import even_domain

    parts = numbers("--domain", text.replace(":", ","))
    if len(parts) != 3:
        raise InputError(f"--domain {text}: give low:high:step with a step above 0, such as 10:250:10.")
    low, high, step = parts
    return list(even_domain(low, high, step))


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
    tolerances = {name: numbers(f"--eps {name}", ",".join(items)) for name, items in found.items()}
    return tolerances if len(confidential) > 1 else tolerances[confidential[0]]


def attribute_units(unit: str, attributes: Mapping[str, Any]) -> dict[str, str]:
    """The unit of each attribute. ``--unit`` needs exactly one numeric attribute; InputError otherwise."""
    of_numbers = [name for name, attribute in attributes.items() if attribute.numeric]
    if unit and len(of_numbers) != 1:
        which = f"{' and '.join(of_numbers)} are numeric" if of_numbers else "none is numeric"
        raise InputError(
            f"--unit {unit} needs exactly one numeric confidential attribute, but {which}: omit it."
        )
    return {name: unit if name in of_numbers else "" for name in attributes}


# How files are read: the same names as in Python and in plans.


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How the files are read, as the options of a command say it; what is left out is guessed."""

    format: Annotated[
        str | None,
        typer.Option(
            "--file-format", help="The file's format: csv, parquet, …; default: by its first bytes."
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(help="What separates the columns of a text file: ',', ';', tab, '|'; default: guessed."),
    ] = None
    decimal: Annotated[
        str | None, typer.Option(help="The decimal mark of numbers: '.' or ','; default: guessed.")
    ] = None
    thousands: Annotated[
        str | None,
        typer.Option(help="The mark between thousands: '.', ',', \"'\", ' ' or none; default: guessed."),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(help="The encoding: utf-8, utf-16, latin-1, windows-1252, …; default: guessed."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line holds the columns' names; without them they are column_1, column_2, ….",
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        typer.Option(
            help="Words and codes for a missing value: NA,-8; or of one column: income=-8,-9. Repeatable."
        ),
    ] = None
    dates: Annotated[str | None, typer.Option(help="How dates are written, such as %d.%m.%Y.")] = None
    labels: Annotated[
        str | None, typer.Option(help="Of values with a label, read the labels or the codes.")
    ] = None
    sheet: Annotated[str | None, typer.Option(help="The sheet of a workbook; default: its only one.")] = None
    layout: Annotated[
        Path | None, typer.Option(help="The file that describes the columns of a fixed-width file.")
    ] = None

    @property
    def reading(self) -> Reading:
        """What is given; the rest is guessed."""
        given = {each.name: getattr(self, each.name) for each in fields(ReadingOptions)}
        given["missing"] = missing_words(self.missing)
        given["layout"] = None if self.layout is None else str(self.layout)
        return Reading(**given)


def missing_words(given: Sequence[str] | None) -> list[str] | dict[str, list[str]] | None:
    """The words of ``--missing``: for all columns, or by the names of columns."""
    if not given:
        return None
    named = [text for text in given if "=" in text]
    if not named:
        return [word for text in given for word in names("--missing", text)]
    if len(named) < len(given):
        raise InputError(
            f"--missing {next(text for text in given if '=' not in text)} names no column, but others do: name the "
            "columns in all of them, or in none."
        )
    found: dict[str, list[str]] = {}
    for text in named:
        column, _, words = text.partition("=")
        found.setdefault(column.strip(), []).extend(names("--missing", words))
    return found
