"""Every command has help, and the help has an example."""

from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from equivoc.cli.app import app
from equivoc.version import __version__


def every_command() -> dict[str, str]:
    """Names of all commands, those of groups included ("group command"), and their help as printed."""

    def walk(command: object, path: tuple[str, ...]) -> None:
        subcommands = getattr(command, "commands", None)
        if subcommands is None:
            found[" ".join(path)] = CliRunner().invoke(app, [*path, "--help"]).stdout
        else:
            for name, inner in subcommands.items():
                walk(inner, (*path, name))

    found: dict[str, str] = {}
    walk(typer.main.get_command(app), ())
    return found


COMMANDS = every_command()


def test_the_commands_are_found() -> None:
    assert "curve" in COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_with_an_example(name: str) -> None:
    text = " ".join(COMMANDS[name].split())
    example = re.search(rf"Example: equivoc {name} (.+?) (Options|Arguments)", text)
    assert example, text
    options = set(re.findall(r"--[a-z-]+", COMMANDS[name].split("Example:")[1].split("\n\n")[0]))
    declared = re.findall(r"--[a-z-]+", text.split(example.group(2), 1)[1])
    assert options <= set(declared)


def test_no_arguments_shows_the_commands() -> None:
    for arguments in ([], ["--help"], ["-h"]):
        shown = CliRunner().invoke(app, arguments)
        assert "curve" in shown.output


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"equivoc {__version__}\n")
