"""Reads a task from plain data, JSON or TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from equivoc.errors import InputError, did_you_mean
from equivoc.requests.tables import Table
from equivoc.requests.tasks import Assess, Audit, Choose, Compare, Protect, Report, Task

TASKS: Mapping[str, type[Task]] = {
    kind.verb: kind for kind in (Assess, Report, Compare, Choose, Protect, Audit, Table)
}


def read(given: Mapping[str, Any] | str) -> Task:
    """The task that a mapping describes, or its text in JSON or TOML.

    >>> task = read({"verb": "assess", "people": {"source": "people.csv", "confidential": "pay", "keys": ["age"]},
    ...     "technique": "sampling:fraction=0.1"})
    >>> read(task.json) == task == read(task.toml)
    True
    """
    found = _parsed(given) if isinstance(given, str) else given
    if not isinstance(found, Mapping):
        raise InputError(f"a task is {found!r}; give a mapping, or its text in JSON or TOML.")
    verb = found.get("verb")
    if not isinstance(verb, str) or verb not in TASKS:
        raise InputError(f"the task has the verb {verb!r}{did_you_mean(str(verb), TASKS)}")
    return TASKS[verb].read({name: value for name, value in found.items() if name != "verb"})


def _parsed(text: str) -> Any:
    in_json = text.lstrip().startswith("{")
    try:
        return json.loads(text) if in_json else tomllib.loads(text)
    except (
        ValueError
    ) as mistake:  # of both readers; not from `mistake`, whose text can repeat much of the input
        raise InputError(f"the task is not valid {'JSON' if in_json else 'TOML'}: {mistake}.") from None
