"""The base class of techniques: a name, checked parameters, and a method that makes a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from equivoc.checks import is_whole
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.notation.declared import Declared, params
from equivoc.notation.ranges import Range
from equivoc.notation.words import Columns, checked_columns
from equivoc.releases.release import Release

Randomness = np.random.Generator | int | None
ON = '"confidential", "keys", "all", or columns by name'


@dataclass(frozen=True)
class Technique(Declared, ABC):
    """A way to release data about people."""

    usual: ClassVar[str] = ""
    """The parameter that a search varies unless another is named; "": the first number that is worth trying."""

    needs: ClassVar[Literal["values", "order", "numbers"]] = "values"
    """What the confidential attribute must hold unless the parameters say otherwise: any values, values with an order,
    or numbers."""
    private_noise: ClassVar[bool] = False
    """True if its guarantee needs noise that nobody can repeat: a release to publish is made without a seed."""

    needs_records: ClassVar[bool] = True
    """False if a release and its figures come from counts alone, however many records there are."""

    @property
    def whole_records(self) -> bool:
        """True if several confidential attributes of a record are kept, hidden or moved together."""
        return False

    @abstractmethod
    def release(self, people: Microdata, rng: Randomness = None) -> Release:
        """Make a release; ``rng`` is a NumPy Generator or a seed, and the same seed gives the same release."""

    @property
    def random(self) -> bool:
        """True if it draws at random. If not, one release is used for all replicates of a study."""
        return True

    def mechanism(self, people: Microdata) -> str:
        """What an intruder who knows the technique and its parameters knows of a release, in sentences."""
        return f"She knows how the release was made: {self.notation}."

    @property
    def content(self) -> str | None:
        """A hash of the files that the notation names; None if it names none."""
        return None


def beside(name: Any, folder: Path) -> Any:
    """A file's path resolved from ``folder``; anything but text is returned unchanged."""
    return str(folder / name) if isinstance(name, str) else name


def tried_parameters(kind: type[Technique]) -> dict[str, Range]:
    """The numbers of a technique that are worth trying, the usual one first.

    >>> from equivoc.techniques.swapping import Swapping
    >>> list(tried_parameters(Swapping))
    ['rate', 'window']
    """
    found = {each.name: each.tries for each in params(kind) if each.tries is not None}
    return dict(sorted(found.items(), key=lambda item: item[0] != kind.usual))


def useful_range(parameter: str, tries: Range, people: Microdata) -> tuple[float, float]:
    """The ends of the range that is worth trying for these people, in the parameter's own unit."""
    if tries.unit == "records":
        step = tries.step or 1
        return tries.low, max(tries.low, min(tries.high, int(len(people) // step * step)))
    if tries.unit == "share":
        return min(max(tries.low, ceil(100 / len(people)) / 100), tries.high), tries.high
    if tries.unit == "number":
        return tries.low, tries.high
    if not people.attribute.numeric:
        raise InputError(
            f"{parameter}: {people.confidential!r} holds categories, so there is no range of numbers to try."
        )
    first, last = float(people.values[0]), float(people.values[-1])
    width = last - first
    if width == 0:
        raise InputError(
            f"{parameter}: all values of {people.confidential!r} are equal, so there is no range to try."
        )
    begin = first if tries.unit == "value" else 0.0
    digits = 2 - floor(log10(width))
    return round(begin + tries.low * width, digits), round(begin + tries.high * width, digits)


def generator(rng: Randomness) -> np.random.Generator:
    """``rng`` as a NumPy Generator."""
    seed = is_whole(rng) and rng >= 0
    if not (seed or rng is None or isinstance(rng, np.random.Generator)):
        raise InputError(f"rng is {rng!r}; give a NumPy Generator or a seed of 0 or more.")
    return np.random.default_rng(rng)


def check_numbers(technique: str, people: Microdata, why: str) -> None:
    """InputError unless the confidential attribute holds numbers."""
    if not people.attribute.numeric:
        raise InputError(
            f"{technique}: {people.confidential!r} holds categories, {why}; choose a technique that keeps or hides "
            "values, such as sampling, swapping or pram."
        )


def check_order(technique: str, people: Microdata, why: str) -> None:
    """InputError unless the values of the confidential attribute have an order."""
    if not people.attribute.ordered:
        raise InputError(
            f"{technique}: {people.confidential!r} holds categories without an order, {why}; give their order "
            "(Ordered), or choose another technique, such as sampling, swapping or pram."
        )


def in_words(names: Sequence[str]) -> str:
    """Names as in a sentence.

    >>> in_words(["age"]), in_words(["age", "sex", "pay"])
    ('age', 'age, sex and pay')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def knows_shares(people: Microdata, columns: Sequence[str]) -> str:
    """The sentence that she knows the distributions of the keys among the changed ``columns``; "" if there are none."""
    keys = [name for name in columns if name != people.confidential]
    return f" She knows how often each value of {in_words(keys)} occurs in the file." if keys else ""


def columns_of(technique: str, people: Microdata, on: Columns) -> tuple[str, ...]:
    """The columns that ``on`` selects: "confidential", "keys", "all", or columns by name (``age+sex`` in words)."""
    named = {
        "confidential": (people.confidential,),
        "keys": people.keys,
        "all": (*people.keys, people.confidential),
    }
    on = checked_columns(f"{technique}: on", on)
    columns = named[on] if isinstance(on, str) else tuple(on)
    for name in columns:
        if name not in named["all"]:
            raise InputError(
                f"{technique}: on names {name!r}, which is neither a key nor the confidential column; "
                f'give "confidential", "keys", "all" or some of {", ".join(named["all"])}.'
            )
    if not columns:
        raise InputError(f"{technique}: on is {on!r}, which leaves no column to change.")
    if len(set(columns)) < len(columns):
        raise InputError(f"{technique}: on is {on!r}, which names a column twice; name it once.")
    return columns
