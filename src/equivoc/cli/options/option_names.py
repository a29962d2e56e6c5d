"""Rewrites the library's messages: argument names become options of the command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from equivoc.cli.app import app

TOLD_OF = r"(?= is | are | must | has | have | holds? | contains? | sums? to | reach from |\[\d+\])"
"""The words that follow an argument's name in a message about the argument."""


def with_option_names(message: str, words: Sequence[str]) -> str:
    """The message with ``drop_missing=True`` turned into ``--drop-missing``, and so on, for the command in ``words``.

    A name that is also an ordinary word, such as known, is treated as an argument only if the sentence begins with it
    and the caller has given that option.
    """
    for name, option in _options(words).items():
        message = re.sub(rf"(?<![\w-]){name}=True\b", option, message)
        if "_" in name:
            message = re.sub(rf"(?<![\w-]){name}\b", option, message)
        elif any(word == option or word.startswith(f"{option}=") for word in words):
            message = re.sub(rf"^{name}{TOLD_OF}", option, message)
    return message


def _options(words: Sequence[str]) -> dict[str, str]:
    """The options of the command: each by the name of its argument in Python."""
    import typer

    commands = getattr(typer.main.get_command(app), "commands", {})
    command = next((commands[word] for word in words if word in commands), None)
    if command is None:
        return {}
    return {
        given.removeprefix("--").replace("-", "_"): given
        for parameter in _parameters(command)
        for given in parameter.opts
        if given.startswith("--")
    }


def _parameters(command: Any) -> list[Any]:
    """A command's parameters; those of all its commands, if it is a group."""
    inner = getattr(command, "commands", {}).values()
    return [*command.params, *(parameter for each in inner for parameter in _parameters(each))]
