"""The list of commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer

from equivoc.cli.assess import assess, measures, report, roles
from equivoc.cli.audit import audit
from equivoc.cli.choose import choose
from equivoc.cli.compare import compare
from equivoc.cli.gateway import gateway
from equivoc.cli.process import load_libraries
from equivoc.cli.protect import protect, verify
from equivoc.cli.study import reproduce, study
from equivoc.cli.system import curve, doctor, serve
from equivoc.cli.table import table
from equivoc.version import __version__

LITTLE_LOADED = ("curve", "doctor")
"""Commands that run even where the libraries do not fit."""

app = typer.Typer(
    name="equivoc",
    help="Measures how much an intruder can learn about a person's confidential value. No data leave this machine.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"equivoc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
    ),
) -> None:
    if context.invoked_subcommand not in LITTLE_LOADED:
        load_libraries()


app.command()(curve)
app.command()(assess)
app.command()(measures)
app.command()(roles)
app.command()(report)
app.command()(study)
app.command()(compare)
app.command()(reproduce)
app.command()(choose)
app.command()(protect)
app.command()(verify)
app.command()(audit)
app.command()(table)
app.command()(serve)
app.add_typer(gateway, name="gateway")
app.command()(doctor)


# Errors in the command line itself, each reported in one sentence like all other errors.

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""Typer's class of all usage errors; typer exports only its subclasses."""
SHOWS_HELP = "NoArgsIsHelpError"
"""Raised if the command line is empty."""


def usage_sentence(mistake: Any) -> str | None:
    """What is wrong, and which help to read; None if typer should show the help instead."""
    if type(mistake).__name__ == SHOWS_HELP:
        return None
    command = "equivoc" if mistake.ctx is None else mistake.ctx.command_path
    return f"{mistake.format_message().strip().rstrip('.')}; see {command} --help."


# Rewrites the library's messages: argument names become options of the command.

TOLD_OF = r"(?= is | are | must | has | have | holds? | contains? | sums? to | reach from |\[\d+\])"
"""The words that follow an argument's name in a message about the argument."""


def with_option_names(message: str, words: Sequence[str]) -> str:
    """The message with ``drop_missing=True`` turned into ``--drop-missing``, and so on, for the command in ``words``.

    A name that is also an ordinary word, such as known, is treated as an argument only if the sentence begins with it
    and the caller has given that option.
    """
    for name, option in _options(words).items():
        message = re.sub(rf"(?<![\w-]){name}=True\b", option, message)
        message = re.sub(rf"(?<![\w-]){name}=False\b", option.replace("--", "--no-", 1), message)
        message = re.sub(rf"(?<![\w-]){name}=(?='[^']*')", f"{option} ", message)
        if "_" in name:
            message = re.sub(rf"(?<![\w-]){name}\b", option, message)
        elif any(word == option or word.startswith(f"{option}=") for word in words):
            message = re.sub(rf"^{name}{TOLD_OF}", option, message)
    return message


def _options(words: Sequence[str]) -> dict[str, str]:
    """The options of the command: each by the name of its argument in Python."""
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
