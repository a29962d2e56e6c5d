"""A study as a TOML file: data, techniques with lists of parameters, what intruders know, replicates, seed.

[data]
path = "people.csv"          # beside the plan, unless absolute
confidential = "salary"
keys = ["age", "sex"]
round_to = 10                # optional, as are domain and drop_missing
domain = { low = 10, high = 250, step = 10 }

[[technique]]
name = "sampling"
fraction = [0.05, 0.1]       # a list is a grid: every combination is a technique of its own

[study]
known_sizes = [0, 1, 2]      # or subsets = [[], ["age"]]; neither: 0 … all keys
replicates = 30
seed = 0
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.study.study import Study
from equivoc.study.toml_lines import TomlLines
from equivoc.techniques.notation import TECHNIQUES, technique_of
from equivoc.techniques.technique import Technique

TABLES = ("data", "technique", "study")
NEEDED = ("path", "confidential", "keys")
KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "path": (str, "a text"),
    "confidential": (str, "a text"),
    "keys": (list, "a list of texts"),
    "round_to": ((int, float), "a number"),
    "domain": ((list, dict), "a list of numbers, or { low = …, high = …, step = … }"),
    "drop_missing": (bool, "true or false"),
    "known_sizes": (list, "a list of whole numbers"),
    "subsets": (list, "a list of lists of keys"),
    "replicates": (int, "a whole number"),
    "seed": (int, "a whole number"),
}
DATA = ("path", "confidential", "keys", "round_to", "domain", "drop_missing")
STUDY = ("known_sizes", "subsets", "replicates", "seed")
SAID_OF_DATA = {
    "domain": ("domain",),
    "round_to": ("round_to",),
    "path": (
        "there is no file",
        "cannot be read",
        "is not a readable",
        "is empty",
        "is a folder",
        "cannot read",
    ),
    "keys": ("keys", "the key"),
    "confidential": ("confidential",),
}
"""The words by which a message about the data tells which key of the plan it is about; the first that fits."""
LONGEST_DOMAIN = 1_000_000


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan whose tables and techniques are in order; whether the data are, `study` finds out."""

    path: Path
    lines: TomlLines
    data: dict[str, Any]
    techniques: tuple[Technique, ...]
    design: dict[str, Any]
    """known_sizes or subsets, replicates, seed, as far as given."""

    def study(self) -> Study:
        """Read the people and put the study together."""
        given = {name: self.data[name] for name in DATA if name in self.data and name != "path"}
        with self._at("data", SAID_OF_DATA):
            if "domain" in given:
                given["domain"] = _domain(given["domain"])
            people = Microdata(self.path.parent / self.data["path"], **given)
        with self._at("study", {key: (key,) for key in STUDY}):
            return Study(people, techniques=self.techniques, **self.design)

    @contextmanager
    def _at(self, table: str, keys: Mapping[str, tuple[str, ...]]) -> Iterator[None]:
        """Say on which line the mistake is: that of the key which the message names, or else the table's."""
        try:
            yield
        except InputError as mistake:
            raise _wrong(self.path, self.lines, table, _named(str(mistake), keys), str(mistake)) from None


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """The plan in a TOML file; InputError names the line and the key that is wrong."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
        plan = tomllib.loads(text)
    except OSError as problem:
        raise InputError(f"the plan {file} cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"the plan {file} is not a text file; give TOML in UTF-8.") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"the plan {file} is not TOML: {problem}.") from None
    lines = TomlLines.of(text)
    for table in plan:
        if table not in TABLES:
            message = f"there is no {table!r} in a plan{_nearest(table, TABLES)}"
            raise _wrong(file, lines, table, "", message)
    data = _table(file, lines, plan, "data", DATA)
    for name in NEEDED:
        if name not in data:
            raise _wrong(file, lines, "data", "", f"[data] needs {name}.")
    design = _table(file, lines, plan, "study", STUDY)
    return Plan(file, lines, data, tuple(_techniques(file, lines, plan)), design)


def _table(
    file: Path, lines: TomlLines, plan: dict[str, Any], name: str, allowed: tuple[str, ...]
) -> dict[str, Any]:
    content = plan.get(name, {})
    if not isinstance(content, dict):
        raise _wrong(file, lines, name, "", f"{name} must be a table, [{name}].")
    for key, value in content.items():
        if key not in allowed:
            raise _wrong(file, lines, name, key, f"[{name}] has no key {key!r}{_nearest(key, allowed)}")
        kind, said = KINDS[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _wrong(file, lines, name, key, f"{key} is {value!r}; it must be {said}.")
    return content


def _techniques(file: Path, lines: TomlLines, plan: dict[str, Any]) -> Iterator[Technique]:
    """Every combination of every table's lists of parameters."""
    tables = plan.get("technique", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _wrong(file, lines, "technique", "", "techniques are written as tables, [[technique]].")
    if not tables:
        raise InputError(f"the plan {file} has no technique; give at least one table [[technique]].")
    seen: set[str] = set()
    for number, table in enumerate(tables):

        def wrong(key: str, message: str, number: int = number) -> InputError:
            return _wrong(file, lines, "technique", key, message, number=number)

        name = table.get("name")
        if not isinstance(name, str):
            raise wrong("name", f"a technique needs a name, such as 'sampling'; it is {name!r}.")
        grid = {
            key: value if isinstance(value, list) else [value]
            for key, value in table.items()
            if key != "name"
        }
        for key, choices in grid.items():
            if not choices:
                raise wrong(key, f"{name}: {key} is an empty list; give at least one value.")
            flags = [choice for choice in choices if isinstance(choice, bool)]
            if flags:
                raise wrong(key, f"{name}: {key} is {str(flags[0]).lower()}; give a number or a text.")
        for chosen in product(*grid.values()):
            parameters = dict(zip(grid, chosen, strict=True))
            for key, beside in TECHNIQUES[name].files.items() if name in TECHNIQUES else ():
                if key in parameters:
                    parameters[key] = beside(parameters[key], file.parent)
            try:
                technique = technique_of(name, parameters)
            except InputError as mistake:
                named = _named(str(mistake), {key: (key,) for key in parameters}) or "name"
                raise wrong(named, str(mistake)) from None
            if technique.notation in seen:
                raise wrong("name", f"{technique.notation} is in the plan twice; give it once.")
            seen.add(technique.notation)
            yield technique


def _domain(given: Any) -> Any:
    """The values a domain stands for."""
    if isinstance(given, list):
        return given
    if set(given) != {"low", "high", "step"}:
        raise InputError(f"domain has the keys {', '.join(given) or 'none'}; it needs low, high and step.")
    low, high, step = (given[key] for key in ("low", "high", "step"))
    if any(
        isinstance(n, bool) or not isinstance(n, (int, float)) or not np.isfinite(n) for n in given.values()
    ):
        raise InputError("domain: low, high and step must be numbers.")
    if not (step > 0 and high >= low) or (high - low) / step > LONGEST_DOMAIN:
        raise InputError(f"domain: from {low} to {high} in steps of {step} is no list of values.")
    return low + step * np.arange(int((high - low) / step + 1e-9) + 1)


def _wrong(
    file: Path, lines: TomlLines, table: str, key: str, message: str, *, number: int = 0
) -> InputError:
    return InputError(f"{file}, line {lines.find(table, key, number=number)}: {message}")


def _named(message: str, keys: Mapping[str, tuple[str, ...]]) -> str:
    """The first of the keys whose words the message says; "" if none."""
    return next((key for key, words in keys.items() if any(word in message for word in words)), "")


def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}."
