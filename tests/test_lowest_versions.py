"""The short path that `.ci/run` takes with the lowest versions leads through every command."""

from __future__ import annotations

from importlib import metadata

import typer

from equivoc.cli.app import app
from tests.lowest_versions import COMMANDS, declared


def test_every_command_has_a_row() -> None:
    assert set(COMMANDS) == set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def test_the_declared_packages_are_those_that_are_installed() -> None:
    names = declared()
    assert "scipy" in names
    assert "fastapi" in names
    for name in names:
        assert metadata.version(name)
