"""A study, or a comparison, as a TOML file: data, techniques with lists of parameters, what intruders know.

[data]
path = "people.csv"          # relative to the plan's folder
confidential = "salary"
keys = ["age", "sex"]
round_to = 10                # optional, as are domain, weights, group and drop_missing
decimal = ","                # optional, as are separator, encoding, missing and the like, as in `equivoc.read`
# for categories:
# hierarchy = { disease = "disease.csv" }         # relative to the plan's folder
# ordered = { severity = ["mild", "severe"] }     # lowest first
# categories = ["code"]                           # numbers that are codes
domain = { low = 10, high = 250, step = 10 }

[[technique]]
name = "sampling"
fraction = [0.05, 0.1]       # lists form a grid: every combination is a separate technique

[study]
known_sizes = [0, 1, 2]      # or subsets = [[], ["age"]]; default: 0 … all keys
replicates = 30
seed = 0
prior = "marginal"           # or "uniform"
intruder = "informed"        # or paper, register, learned, strongest

[compare]                    # for `equivoc compare`; also replicates, seed, prior, intruder, population
participation = "known"      # or "unknown", or the chance that the target took part
known = ["age"]              # default: all keys
utility = "query_error"      # the measure of loss that ranks

[require]                    # for `equivoc compare`; a study has no requirements
rules = ["true_hit(5000) <= 0.2", "h0@worst >= 1"]
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from equivoc.attributes.numbers import even_domain
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError, did_you_mean
from equivoc.reading.reading import Reading
from equivoc.requests.people import PeopleRequest
from equivoc.requests.plan_text import TomlLines, read_toml, wrong
from equivoc.requests.question import MOST_CELLS, too_many_cells
from equivoc.requirements.requirement import Requirement, requirements
from equivoc.techniques.notation import technique_of
from equivoc.techniques.technique import Technique

TABLES = ("data", "technique", "study", "compare", "require")
NEEDED = ("path", "confidential", "keys")
KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "path": (str, "a text"),
    "confidential": (str, "the name of one column: only one can be confidential here"),
    "keys": (list, "a list of texts"),
    "round_to": ((int, float), "a number"),
    "domain": ((list, dict), "a list of numbers, or { low = …, high = …, step = … }"),
    "weights": (str, "the name of a column"),
    "group": (str, "the name of a column"),
    "header": (bool, "true or false"),
    "missing": (
        (list, dict),
        'a list of words, or a table of columns and words, such as { income = ["-8"] }',
    ),
    **dict.fromkeys(
        ("format", "separator", "decimal", "thousands", "encoding", "labels", "dates", "sheet", "layout"),
        (str, "a text"),
    ),
    "drop_missing": (bool, "true or false"),
    "engine": (str, "a text"),
    "master": (str, "a text"),
    "hierarchy": (dict, 'a table of attributes and files, such as { disease = "disease.csv" }'),
    "ordered": (dict, 'a table of attributes and levels, such as { severity = ["mild", "severe"] }'),
    "categories": (list, "a list of texts"),
    "known_sizes": (list, "a list of whole numbers"),
    "subsets": (list, "a list of lists of keys"),
    "replicates": (int, "a whole number"),
    "seed": (int, "a whole number"),
    "prior": (str, "a text"),
    "intruder": (str, "a text"),
    "participation": ((str, float), "a text or a number"),
    "population": ((int, float), "a number"),
    "known": (list, "a list of keys"),
    "utility": (str, "a text"),
    "eps": (list, "a list of numbers"),
    "rules": (list, 'a list of texts, such as ["true_hit(5000) <= 0.2"]'),
}
ABOUT_KINDS = ("round_to", "domain", "hierarchy", "ordered", "categories")
READING = tuple(each.name for each in fields(Reading))
ROLES = ("confidential", "keys", "weights", "group")
DATA = ("path", *ROLES, "drop_missing", "engine", "master", *ABOUT_KINDS, *READING)
REQUIRE = ("rules",)
DESIGNS = {
    "study": ("known_sizes", "subsets", "replicates", "seed", "prior", "intruder"),
    "compare": (
        "known",
        "replicates",
        "seed",
        "prior",
        "intruder",
        "participation",
        "population",
        "utility",
        "eps",
    ),
}
"""The keys of the table that describes the computation, by its name."""
SAID_OF_DATA = {
    **{name: (f"{name} is", f"{name}=") for name in READING if name != "header"},
    "weights": ("the weights column", "hold the weights"),
    "group": ("the group column",),
    "hierarchy": ("hierarchy",),
    "ordered": ("ordered", "levels"),
    "categories": ("categories is",),
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
    "engine": ("engine",),
    "master": ("master", "Spark session"),
    "keys": ("keys", "the key"),
    "confidential": ("confidential",),
}
"""For each key of the plan, the words in an error message that point to it; the first match is used."""
LONGEST_DOMAIN = 10_000


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan whose tables and techniques are checked; `people` reads and checks the data."""

    path: Path
    lines: TomlLines
    data: dict[str, Any]
    techniques: tuple[Technique, ...]
    design: dict[str, Any]
    """The keys of [study], or of [compare], that are given."""
    requirements: tuple[Requirement, ...] = ()
    """What a release must meet, for a comparison."""

    def people(self) -> Microdata:
        """Read the people."""
        with self.at("data", SAID_OF_DATA):
            path = self.data["path"]
            # A table of Spark's catalog has no folder.
            in_catalog = self.data.get("engine") == "spark" and not (self.path.parent / path).exists()
            given = {name: self.data[name] for name in DATA if name in self.data and name != "path"}
            if "domain" in given:
                given["domain"] = list(_domain(given["domain"]))
            strange = [name for name in given.get("categories", []) if not isinstance(name, str)]
            if strange:
                raise InputError(f"categories is a list that contains {strange[0]!r}; give names of columns.")
            if "layout" in given:
                given["layout"] = str(self.path.parent / given["layout"])
            given["hierarchy"] = {name: str(file) for name, file in self.hierarchies().items()}
            return PeopleRequest(path if in_catalog else str(self.path.parent / path), **given).open()

    def hierarchies(self) -> dict[str, Path]:
        """The file of each attribute's hierarchy, or its periods."""
        from equivoc.data.hierarchies import rule_beside

        files = self.data.get("hierarchy", {})
        for name, file in files.items():
            if not isinstance(file, str):
                raise InputError(f"the hierarchy of {name!r} is {file!r}; give the name of a CSV file.")
        return {name: Path(rule_beside(file, self.path.parent)) for name, file in files.items()}

    @contextmanager
    def at(self, table: str, keys: Mapping[str, tuple[str, ...]]) -> Iterator[None]:
        """Add the line to an error: the line of the key that the message names, or of the table if it names none."""
        try:
            yield
        except InputError as mistake:
            raise wrong(self.path, self.lines, table, _named(str(mistake), keys), str(mistake)) from None


def read_plan(path: str | os.PathLike[str], design: str = "study") -> Plan:
    """The plan of a "study" or "compare" in a TOML file; InputError names the line and the key that is wrong.

    A file may have the tables of both.
    """
    file = Path(path)
    plan, lines = read_toml(file)
    for table in plan:
        if table not in TABLES:
            message = f"a plan has no table {table!r}{did_you_mean(table, TABLES)}"
            raise wrong(file, lines, table, "", message)
    data = _table(file, lines, plan, "data", DATA)
    for name in NEEDED:
        if name not in data:
            raise wrong(file, lines, "data", "", f"[data] needs {name}.")
    asked = _table(file, lines, plan, design, DESIGNS[design])
    rules = _requirements(file, lines, plan)
    techniques = tuple(_techniques(file, lines, plan, asked.get("replicates", 1), design))
    return Plan(file, lines, data, techniques, asked, rules)


def _table(
    file: Path, lines: TomlLines, plan: dict[str, Any], name: str, allowed: tuple[str, ...]
) -> dict[str, Any]:
    content = plan.get(name, {})
    if not isinstance(content, dict):
        raise wrong(file, lines, name, "", f"{name} must be a table, [{name}].")
    for key, value in content.items():
        if key not in allowed:
            raise wrong(file, lines, name, key, f"[{name}] has no key {key!r}{did_you_mean(key, allowed)}")
        kind, said = KINDS[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise wrong(file, lines, name, key, f"{key} is {value!r}; it must be {said}.")
    return content


def _requirements(file: Path, lines: TomlLines, plan: dict[str, Any]) -> tuple[Requirement, ...]:
    """The requirements of [require]."""
    if "require" not in plan:
        return ()
    given = _table(file, lines, plan, "require", REQUIRE)
    if not given.get("rules"):
        message = '[require] needs rules, a list of requirements such as ["true_hit(5000) <= 0.2"].'
        raise wrong(file, lines, "require", "rules", message)
    try:
        return requirements(given["rules"])
    except InputError as mistake:
        raise wrong(file, lines, "require", "rules", str(mistake)) from None


def _techniques(
    file: Path, lines: TomlLines, plan: dict[str, Any], replicates: int, design: str
) -> Iterator[Technique]:
    """The techniques of all tables: every combination of the listed parameters."""
    tables = plan.get("technique", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise wrong(file, lines, "technique", "", "techniques are written as tables, [[technique]].")
    if not tables:
        raise InputError(f"the plan {file} has no technique; give at least one table [[technique]].")
    grids = [_grid(file, lines, number, table) for number, table in enumerate(tables)]
    count = sum(prod(map(len, grid.values())) for grid in grids)
    if count * replicates > MOST_CELLS:
        at = (design, "replicates") if replicates > count else ("technique", "")
        raise wrong(file, lines, *at, too_many_cells(count, replicates))
    seen: set[str] = set()
    for number, grid in enumerate(grids):
        for chosen in product(*grid.values()):
            parameters = dict(zip(grid, chosen, strict=True))
            name = parameters.pop("name")
            try:
                technique = technique_of(name, parameters, file.parent)
            except InputError as mistake:
                named = _named(str(mistake), {key: (key,) for key in parameters}) or "name"
                raise wrong(file, lines, "technique", named, str(mistake), number=number) from None
            if technique.notation in seen:
                message = f"{technique.notation} is in the plan twice; give it once."
                raise wrong(file, lines, "technique", "name", message, number=number)
            seen.add(technique.notation)
            yield technique


def _grid(file: Path, lines: TomlLines, number: int, table: dict[str, Any]) -> dict[str, list[Any]]:
    """The choices for each key of a table, its name included."""
    name = table.get("name")
    if not isinstance(name, str):
        message = f"a technique needs a name, such as 'sampling'; it is {name!r}."
        raise wrong(file, lines, "technique", "name", message, number=number)
    grid = {key: value if isinstance(value, list) else [value] for key, value in table.items()}
    for key, choices in grid.items():
        flags = [choice for choice in choices if isinstance(choice, bool)]
        if flags or not choices:
            is_now = (
                f"{str(flags[0]).lower()}; give a number or a text"
                if flags
                else "an empty list; give a value"
            )
            raise wrong(file, lines, "technique", key, f"{name}: {key} is {is_now}.", number=number)
    return grid


def _domain(given: Any) -> Any:
    """The values of a domain, given as a list or as low, high and step."""
    if isinstance(given, list):
        if len(given) > LONGEST_DOMAIN:
            raise InputError(f"domain has {len(given):,} values; it can have at most {LONGEST_DOMAIN:,}.")
        return given
    if set(given) != {"low", "high", "step"}:
        raise InputError(f"domain has the keys {', '.join(given) or 'none'}; it needs low, high and step.")
    return even_domain(given["low"], given["high"], given["step"], most=LONGEST_DOMAIN)


def _named(message: str, keys: Mapping[str, tuple[str, ...]]) -> str:
    """The first key one of whose words is in the message; "" if there is none."""
    return next((key for key, words in keys.items() if any(word in message for word in words)), "")
