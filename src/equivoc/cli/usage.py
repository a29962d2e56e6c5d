"""Mistakes in the command line itself, each in one sentence as all other mistakes are."""

from __future__ import annotations

from typing import Any

import typer

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""What typer raises when the words make no sense to it; it exports this class's children only."""
SHOWS_HELP = "NoArgsIsHelpError"
"""Raised if nothing at all is given."""


def usage_sentence(mistake: Any) -> str | None:
    """What is wrong with the words, and where to read on; None if typer is to show the help instead."""
    if type(mistake).__name__ == SHOWS_HELP:
        return None
    command = "equivoc" if mistake.ctx is None else mistake.ctx.command_path
    return f"{mistake.format_message().strip().rstrip('.')}; see {command} --help."
