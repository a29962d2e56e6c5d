"""The hierarchy of each key: from a mapping, a folder of CSV files, or text such as ``age:5/10+zip:zip.csv``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from equivoc.attributes.hierarchy import Calendar, Hierarchy, Intervals, Ladder, Rule
from equivoc.attributes.hierarchy_files import ARGUS
from equivoc.checks import is_number
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError, did_you_mean
from equivoc.files import is_file, is_folder
from equivoc.notation.words import is_quoted, quoted, split_words, unquoted

_WIDTH = r"(\d+\.?\d*|\.\d+)"
WIDTHS = re.compile(f"{_WIDTH}(/{_WIDTH})*")


@dataclass(frozen=True)
class Hierarchies:
    """Keys and their hierarchies. A key without one is either released unchanged or as ``*``.

    The hierarchy of a key is a mapping of values to their groups, a frame whose first column is the values, or a CSV
    file. A number, or a list of numbers, are widths of intervals; "month", or a list such as ["month", "year"], are
    periods of dates.

    >>> print(Hierarchies.of({"age": (5, 10), "fare": 2.5}))
    age:5/10+fare:2.5
    >>> Hierarchies.of({"age": {20: "young", 30: "young", 40: "old"}}).by_key[0][1].rows
    (('20', 'young'), ('30', 'young'), ('40', 'old'))
    >>> Hierarchies.of("age:5/10+fare:2.5") == Hierarchies.of({"fare": 2.5, "age": (5, 10)})
    True
    """

    by_key: tuple[tuple[str, Rule], ...]
    """In the order of the keys' names."""
    folder: str = field(default="", compare=False)
    """The folder that they come from; files in it that match no key are ignored."""

    @classmethod
    def of(cls, given: Any) -> Hierarchies:
        """From the caller's argument; files are read immediately."""
        if isinstance(given, Hierarchies):
            return given
        if isinstance(given, Mapping):
            return cls(tuple((key, _source(key, given[key])) for key in sorted(given)))
        if isinstance(given, str) and is_quoted(given) and len(split_words(given, ":")) == 1:
            given = unquoted(given)
        if isinstance(given, os.PathLike) or (isinstance(given, str) and is_folder(given)):
            return cls._from_folder(Path(given))
        if isinstance(given, str) and ":" in given:
            pairs = [split_words(item, ":") for item in split_words(given, "+")]
            rules = {unquoted(key): unquoted(":".join(rule)) for key, *rule in pairs}
            if len(rules) < len(pairs):
                raise InputError(f"hierarchies {given!r} name a key twice.")
            return cls.of(rules)
        raise InputError(
            f"hierarchies are {given!r}: there is no such folder; give a folder of CSV files, or keys with widths "
            "or files, such as age:5/10+zip:zip.csv."
        )

    @classmethod
    def _from_folder(cls, folder: Path) -> Hierarchies:
        files = sorted(each for each in folder.iterdir() if each.suffix.casefold() in (".csv", ARGUS))
        if not files:
            raise InputError(
                f"the folder {folder} has no hierarchy; put a CSV file for each key into it, such as age.csv."
            )
        # ARX names its files so: adult_hierarchy_age.csv.
        keys = [file.stem.rpartition("_hierarchy_")[2] for file in files]
        for key in keys:
            if keys.count(key) > 1:
                both = " and ".join(str(file.name) for file, of in zip(files, keys, strict=True) if of == key)
                raise InputError(f"the folder {folder} has two hierarchies of {key!r}: {both}; keep one.")
        read = {key: Hierarchy.read(file, key=key) for file, key in zip(files, keys, strict=True)}
        return cls(tuple(sorted(read.items())), str(folder))

    def __str__(self) -> str:
        if self.folder:
            return quoted(self.folder)
        return "+".join(f"{quoted(key)}:{_in_words(rule)}" for key, rule in self.by_key)

    def ladders(self, people: Microdata) -> list[Ladder]:
        """The steps of every key of the people, in their order."""
        rules = dict(self.by_key)
        strangers = [key for key in rules if key not in people.keys]
        if strangers and (not self.folder or len(strangers) == len(rules)):
            raise InputError(
                f"there is a hierarchy for {strangers[0]!r}, which is not a key"
                f"{did_you_mean(strangers[0], people.keys)}"
            )
        return [
            rules[key].ladder(key, people.levels(key)) if key in rules else Ladder.of(people.levels(key), [])
            for key in people.keys
        ]


def hierarchies_beside(given: Any, folder: Path) -> Any:
    """The same hierarchies, with relative paths of files and folders resolved from ``folder``.

    >>> hierarchies_beside("age:5/10+zip:zip.csv", Path("plans"))
    'age:5/10+zip:plans/zip.csv'
    """
    if isinstance(given, Mapping):
        return {key: rule_beside(rule, folder) for key, rule in given.items()}
    if not isinstance(given, str):
        return given
    if ":" not in given or is_folder(folder / given):
        return str(folder / given)
    pairs = [item.partition(":") for item in given.split("+")]
    return "+".join(f"{key}:{rule_beside(rule, folder)}" for key, _, rule in pairs)


def rule_beside(rule: Any, folder: Path) -> Any:
    """The same rule, with the path of a file resolved from ``folder``."""
    if not isinstance(rule, str) or WIDTHS.fullmatch(rule):
        return rule
    return rule if Calendar.fits(rule) and not is_file(folder / rule) else str(folder / rule)


def _in_words(rule: Rule) -> str:
    return quoted(str(rule)) if isinstance(rule, Hierarchy) else str(rule)


def _source(key: str, rule: Any) -> Rule:
    """Widths of intervals: a number, a list of numbers, or text such as 5/10. Periods of dates: month, or month/year.

    All else is a hierarchy.
    """
    if isinstance(rule, (Hierarchy, Intervals, Calendar)):
        return rule
    if Calendar.fits(rule):
        if isinstance(rule, str) and is_file(rule):
            raise InputError(
                f"the hierarchy of {key!r} is {rule!r}, which can be periods of dates or the file of this name: give "
                f"{rule.split('/')} for periods, or './{rule}' for the file."
            )
        return Calendar.of(rule)
    if isinstance(rule, str) and WIDTHS.fullmatch(rule):
        if is_file(rule):
            raise InputError(
                f"the hierarchy of {key!r} is {rule!r}, which can be widths of intervals or the file of this name: "
                f"give numbers such as {tuple(map(float, rule.split('/')))} for widths, or './{rule}' for the file."
            )
        return Intervals.of(rule)
    if hasattr(rule, "to_list") and not hasattr(rule, "columns"):  # a Series of pandas or polars
        raise InputError(
            f"the hierarchy of {key!r} is a {type(rule).__name__}, which can be widths of intervals or the groups of "
            "its index: give list(…) for widths, or a mapping or a frame of values and their groups for a hierarchy."
        )
    if is_number(rule) or isinstance(rule, (list, tuple, range, np.ndarray)):
        return Intervals.of(rule)
    return Hierarchy.of(rule, key=key)
