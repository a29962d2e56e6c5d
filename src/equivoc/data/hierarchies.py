"""The hierarchy of each key: from a mapping, a folder of CSV files, or text such as ``age:5/10+zip:zip.csv``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivoc.attributes.hierarchy import Hierarchy, Intervals, Ladder
from equivoc.data.microdata import Microdata
from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.quoted_words import is_quoted, quoted, split_words, unquoted

WIDTHS = re.compile(r"[\d.]+(/[\d.]+)*")


@dataclass(frozen=True)
class Hierarchies:
    """Keys and their hierarchies. A key without one is either released unchanged or as ``*``.

    >>> print(Hierarchies.of({"age": (5, 10), "fare": 2.5}))
    age:5/10+fare:2.5
    >>> Hierarchies.of("age:5/10+fare:2.5") == Hierarchies.of({"fare": 2.5, "age": (5, 10)})
    True
    """

    by_key: tuple[tuple[str, Hierarchy | Intervals], ...]
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
        if isinstance(given, os.PathLike) or (isinstance(given, str) and Path(given).is_dir()):
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
        files = sorted(folder.glob("*.csv"))
        if not files:
            raise InputError(
                f"the folder {folder} has no hierarchy; put a CSV file for each key into it, such as age.csv."
            )
        return cls(tuple((file.stem, Hierarchy.read(file, key=file.stem)) for file in files), str(folder))

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
        return {key: _rule_beside(rule, folder) for key, rule in given.items()}
    if not isinstance(given, str):
        return given
    if ":" not in given or (folder / given).is_dir():
        return str(folder / given)
    pairs = [item.partition(":") for item in given.split("+")]
    return "+".join(f"{key}:{_rule_beside(rule, folder)}" for key, _, rule in pairs)


def _rule_beside(rule: Any, folder: Path) -> Any:
    return str(folder / rule) if isinstance(rule, str) and not WIDTHS.fullmatch(rule) else rule


def _in_words(rule: Hierarchy | Intervals) -> str:
    return str(rule) if isinstance(rule, Intervals) else quoted(str(rule))


def _source(key: str, rule: Any) -> Hierarchy | Intervals:
    if isinstance(rule, (Hierarchy, Intervals)):
        return rule
    if isinstance(rule, os.PathLike) or (isinstance(rule, str) and not WIDTHS.fullmatch(rule)):
        return Hierarchy.read(Path(rule), key=key)
    return Intervals.of(rule)
