"""``--require``, and the exit code of a command whose requirements are not met."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.cli.output.streams import discard_output

if TYPE_CHECKING:
    from equivoc.assessment.requirements.requirement import Requirement

NOT_MET = 3
"""The exit code if a requirement is not met."""

RequireOption = Annotated[
    list[str] | None,
    typer.Option(
        help="What the release must meet: 'true_hit(5000) <= 0.2', 'h0@worst >= 1', 'k >= 3'. Repeatable; the exit "
        "code is 3 if one is not met."
    ),
]


def asked_requirements(given: Sequence[str] | None) -> tuple[Requirement, ...]:
    """The requirements of ``--require``; InputError if one cannot be read or two contradict each other."""
    from equivoc.assessment.requirements.requirement import requirements

    return requirements(given)


@contextmanager
def exit_code_of(*, meets: bool) -> Iterator[None]:
    """Print the result inside; afterwards the command ends with exit code 3 unless the requirements are met.

    Also if the reader closes the output early, as ``| head`` does: a pipeline must not take that for a success.
    """
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    if not meets:
        raise typer.Exit(NOT_MET)
