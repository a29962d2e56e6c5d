"""Writes a task as Python, as a command, as TOML and as JSON; all of them from the fields of the task."""

from __future__ import annotations

import json as json_text
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equivoc.attributes.numbers import even_domain
from equivoc.errors import InputError
from equivoc.notation.declared import Param, in_python, plain
from equivoc.requests.people import LONGEST_DOMAIN, PeopleRequest
from equivoc.requests.tasks import Task

REPEATED = {"require": "--require", "rule": "--rule", "techniques": "--technique"}
OTHERWISE = {"format": "--file-format"}
"""Options that are not called as their parameter is: --format is that of the tables in --out."""
"""Lists whose items are options of their own."""
OF_KINDS = ("confidential", "domain", "round_to", "hierarchy", "ordered", "categories")


def python(task: Task) -> str:
    """The task as a program.

    >>> from equivoc.requests.tasks import Assess
    >>> people = PeopleRequest("people.csv", confidential="pay", keys="age")
    >>> print(python(Assess(people=people, technique="sampling:fraction=0.1", known=())))
    import equivoc as eq
    <BLANKLINE>
    people = eq.read('people.csv', confidential='pay', keys=['age'])
    result = eq.assess(people, eq.Sampling(fraction=0.1), known=[])
    print(result.summary)
    <BLANKLINE>
    """
    after = task.program()
    before = ["import pathlib"] if any("pathlib." in line for line in after) else []
    people = people_python(task.columns)
    return "\n".join([*before, "import equivoc as eq", "", f"people = {people}", *after, ""])


def people_python(people: PeopleRequest) -> str:
    """The call of `equivoc.read`."""
    given = {each.name: value for each, value in people.given()}
    words = [repr(given.pop("source"))]
    if people.confidential:
        kinds = [_kind(people, name) for name in people.confidential]
        together = kinds[0] if len(kinds) == 1 else f"[{', '.join(kinds)}]"
        words.append(f"confidential={together}")
    several = len(people.confidential) > 1
    for name in OF_KINDS:  # of several attributes, those of the one that holds numbers stand in its kind
        if name not in ("domain", "round_to") or several:
            given.pop(name, None)
    words += [f"{name}={in_python(value)}" for name, value in given.items()]
    return f"eq.read({', '.join(words)})"


def command(task: Task) -> str:
    """The task as a command.

    >>> from equivoc.requests.tasks import Assess
    >>> people = PeopleRequest("people.csv", confidential="pay", keys=["age", "born, year"])
    >>> command(Assess(people=people, technique="sampling:fraction=0.1", known=(), require="h0 >= 1"))
    ... # doctest: +NORMALIZE_WHITESPACE
    'equivoc assess people.csv --confidential pay --keys \\'age,"born, year"\\' --known none --require \\'h0 >= 1\\'
     --technique sampling:fraction=0.1'
    """
    people = task.columns
    source = people.source if not people.source.startswith("-") else f"./{people.source}"
    words = ["equivoc", task.verb, source]
    for each, value in (*people.given(), *task.given()):
        if each.name in task.no_option:
            raise InputError(f"equivoc {task.verb} has no option for {each.name}: run the task in Python.")
        if each.name not in ("source", "people", *task.unsaid):
            words += option(each, value)
    return shlex.join(words + task.options())


def option(param: Param, value: Any) -> list[str]:
    """A parameter as words of a command."""
    name = (REPEATED | OTHERWISE).get(param.name, f"--{param.name.replace('_', '-')}")
    plainly = plain(param, value)
    if param.kind == "flag":
        return [name] if plainly else [f"--no-{param.name.replace('_', '-')}"]
    if param.name in REPEATED:
        return [word for each in plainly for word in (name, each)]
    if param.kind == "table" and not isinstance(plainly, Mapping):
        if any("=" in each for each in plainly):
            raise InputError(
                f"a command cannot describe {plainly!r}, which has an equals sign: use Python or a plan."
            )
        return [name, listed(plainly)]
    if param.kind == "table":
        return [word for key, each in plainly.items() for word in (name, _pair(key, each))]
    if param.kind == "names":
        return [name, listed(plainly) if plainly else "none"]
    if param.kind == "numbers":
        return [name, _domain(plainly) if param.name == "domain" else ",".join(map(str, plainly))]
    return [name, str(plainly)]


def data(task: Task) -> dict[str, Any]:
    """The task as plain data: its verb, what differs from the defaults, and the people."""
    given = {each.name: plain(each, value) for each, value in task.given() if each.name != "people"}
    return {"verb": task.verb, **given, "people": task.request.data}


def json(task: Task) -> str:
    """The task as JSON."""
    return json_text.dumps(data(task), ensure_ascii=False, allow_nan=False, indent=2)


def toml(task: Task) -> str:
    """The task as TOML, with its people as a table."""
    found = data(task)
    people = found.pop("people")
    lines = [f"{name} = {toml_value(value)}" for name, value in found.items()]
    lines += ["", "[people]", *(f"{name} = {toml_value(value)}" for name, value in people.items())]
    return "\n".join(lines) + "\n"


def listed(names: Sequence[str]) -> str:
    """Names as an option takes them: one with a comma or a quote stands in quotes.

    >>> listed(["age", "born, year"])
    'age,"born, year"'
    """
    return ",".join(
        '"' + name.replace('"', '""') + '"'
        if name.strip() != name or any(mark in name for mark in ',"')
        else name
        for name in names
    )


def _kind(people: PeopleRequest, name: str) -> str:
    """The description of a confidential column in Python."""
    if name in (people.hierarchy or {}):
        return f"eq.Tree({name!r}, {people.hierarchy[name]!r})"
    if name in (people.ordered or {}):
        return f"eq.Ordered({name!r}, levels={people.ordered[name]!r})"
    if name in people.categories:
        return f"eq.Categories({name!r})"
    of_numbers = {"round_to": people.round_to, "domain": people.domain}
    given = [f"{each}={in_python(value)}" for each, value in of_numbers.items() if value is not None]
    if len(people.confidential) > 1 and given:
        return f"eq.Number({', '.join([repr(name), *given])})"
    return repr(name)


def _pair(key: str, value: Any) -> str:
    if "=" in key:
        raise InputError(
            f"a command cannot describe {key!r}, whose name has an equals sign: use Python or a plan."
        )
    return f"{key}={value if isinstance(value, str) else listed(value)}"


def _domain(values: Sequence[float]) -> str:
    """``10:250:10`` where the values are an even grid."""
    if len(values) > 3:
        low, high, step = values[0], values[-1], values[1] - values[0]
        if step > 0 and np.array_equal(even_domain(low, high, step, most=LONGEST_DOMAIN), values):
            return f"{low}:{high}:{step}"
    return ",".join(map(str, values))


def toml_value(value: Any) -> str:
    """A value in TOML. JSON writes numbers, lists and texts alike, except for one character."""
    if isinstance(value, Mapping):
        return (
            f"{{ {', '.join(f'{toml_value(name)} = {toml_value(each)}' for name, each in value.items())} }}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json_text.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")
