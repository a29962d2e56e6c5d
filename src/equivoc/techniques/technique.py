"""The base class of techniques: a name, checked parameters, and a method that makes a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from equivoc.arguments import check_choice, is_whole
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.release import Release
from equivoc.quoted_words import quoted, split_words, unquoted
from equivoc.techniques.setting import Setting

Randomness = np.random.Generator | int | None


@dataclass(frozen=True)
class Technique(ABC):
    """A way to release data about people."""

    name: ClassVar[str]
    """Its name on the command line and in plans."""
    files: ClassVar[Mapping[str, Callable[[Any, Path], Any]]] = {}
    """The parameters that name files, each with a function that resolves them from a plan's folder."""

    settings: ClassVar[tuple[Setting, ...]] = ()
    """Its numeric parameters, the usual one first."""
    needs: ClassVar[Literal["values", "order", "numbers"]] = "values"
    """What the confidential attribute must hold unless the parameters say otherwise: any values, values with an order,
    or numbers."""
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Its parameters that are one of a few words, each with these words; None is allowed where it is the default."""
    private_noise: ClassVar[bool] = False
    """True if its guarantee needs noise that nobody can repeat: a release to publish is made without a seed."""

    needs_records: ClassVar[bool] = True
    """False if a release and its figures come from counts alone, however many records there are."""

    worded: ClassVar[tuple[str, ...]] = ("on", "hierarchies", "levels", "matrix")
    """The parameters that parse text with separators themselves, such as ``age+sex``."""

    @property
    def whole_records(self) -> bool:
        """True if several confidential attributes of a record are kept, hidden or moved together."""
        return False

    @abstractmethod
    def release(self, people: Microdata, rng: Randomness = None) -> Release:
        """Make a release; ``rng`` is a NumPy Generator or a seed, and the same seed gives the same release."""

    def check_choices(self) -> None:
        """InputError unless every parameter of `choices` is one of its words."""
        defaults = {f.name: f.default for f in fields(self)}
        for parameter, words in self.choices.items():
            given = getattr(self, parameter)
            if given is not None or defaults[parameter] is not None:
                check_choice(f"{self.name}: {parameter}", given, words)

    @property
    def random(self) -> bool:
        """True if it draws at random. If not, one release is used for all replicates of a study."""
        return True

    def mechanism(self, people: Microdata) -> str:
        """What an intruder who knows the technique and its parameters knows of a release, in sentences."""
        return f"She knows how the release was made: {self.notation}."

    @property
    def notation(self) -> str:
        """The technique as it is written on the command line: ``sampling:fraction=0.1``."""
        given = [
            f"{f.name}={written(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return f"{self.name}:{','.join(given)}" if given else self.name

    @property
    def content(self) -> str | None:
        """A hash of the files that the notation names; None if it names none."""
        return None


def written(value: object) -> object:
    """A parameter as text; 20 and 20.0 read alike; several columns are joined by +, with levels ``age:1+zip:2``."""
    if isinstance(value, tuple):
        return "+".join(
            f"{quoted(part[0])}:{part[1]}" if isinstance(part, tuple) else quoted(part, always=part in WORDS)
            for part in value
        )
    if isinstance(value, str):
        return value if value in WORDS else quoted(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def beside(name: Any, folder: Path) -> Any:
    """A file's path resolved from ``folder``; anything but text is returned unchanged."""
    return str(folder / name) if isinstance(name, str) else name


def generator(rng: Randomness) -> np.random.Generator:
    """``rng`` as a NumPy Generator."""
    seed = is_whole(rng) and rng >= 0
    if not (seed or rng is None or isinstance(rng, np.random.Generator)):
        raise InputError(f"rng is {rng!r}; give a NumPy Generator or a seed of 0 or more.")
    return np.random.default_rng(rng)


WORDS = ("confidential", "keys", "all")


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


Columns = str | tuple[str, ...]
"""Which columns a technique changes: "confidential", "keys", "all", or columns by name."""


def checked_columns(technique: str, on: Columns) -> Columns:
    """``on`` as one of WORDS or a tuple of names, which may be given as ``age+sex``; InputError if it is neither."""
    columns: Columns = ()
    if isinstance(on, str):
        columns = on if on in WORDS else tuple(unquoted(name) for name in split_words(on, "+")) if on else ()
    elif isinstance(on, (list, tuple)):
        columns = tuple(on)
    if not columns or not all(isinstance(name, str) for name in columns):
        raise InputError(
            f'{technique}: on is {on!r}; give "confidential", "keys", "all" or columns by their names.'
        )
    return columns


def columns_of(technique: str, people: Microdata, on: Columns) -> tuple[str, ...]:
    """The columns that ``on`` selects: "confidential", "keys", "all", or columns by name (``age+sex`` in words)."""
    named = {
        "confidential": (people.confidential,),
        "keys": people.keys,
        "all": (*people.keys, people.confidential),
    }
    on = checked_columns(technique, on)
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
