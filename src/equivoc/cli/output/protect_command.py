"""The command line of ``equivoc protect`` that makes a file with a chosen technique."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING

from equivoc.cli.options.people_options import PeopleOptions
from equivoc.number_format import exact

if TYPE_CHECKING:
    from equivoc.techniques.technique import Technique


def protect_command(
    options: PeopleOptions, technique: Technique, require: Sequence[str], *, eps: str | None
) -> str | None:
    """The command with the same people and intruder; None for a technique that releases no file.

    No seed: the one that was tried is known to whoever reads this command, and noise can be undone with it.
    """
    from equivoc.techniques.query_restriction import QueryRestriction

    if isinstance(technique, QueryRestriction):
        return None
    words = ["equivoc", "protect", options.people]
    for option in fields(PeopleOptions):
        given = getattr(options, option.name)
        if option.name == "people" or (option.default is not MISSING and given == option.default):
            continue
        name = f"--{option.name.replace('_', '-')}"
        if given is True:
            words.append(name)
        else:
            for each in given if isinstance(given, list) else [given]:
                words += [name, exact(each) if isinstance(each, float) else str(each)]
    words += ["--technique", technique.notation]
    for text in require:
        words += ["--require", text]
    if eps is not None:
        words += ["--eps", eps]
    return shlex.join([*words, "--out", "protected.csv"])
