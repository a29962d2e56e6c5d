"""Errors in the command line itself, each reported in one sentence like all other errors."""

from __future__ import annotations

from typing import Any

import typer

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
