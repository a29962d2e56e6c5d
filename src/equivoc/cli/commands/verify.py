"""``equivoc verify``: checks a certificate against the people and the protected file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from equivoc.cli.options.kind_options import hierarchy_files
from equivoc.cli.output.waiting import waiting
from equivoc.errors import InputError

MARKS = {True: "holds", False: "wrong", None: "not checked"}


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate: protected.certificate.json.")],
    people: Annotated[Path, typer.Argument(help="The original file: CSV with a header, or Parquet.")],
    protected: Annotated[Path, typer.Argument(help="The protected file.")],
    seed: Annotated[
        int | None,
        typer.Option(help="The seed, if it is not in the certificate: the file is made again.", min=0),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="The hierarchy of a confidential column, if its file is not beside the people: disease=disease.csv. "
            "Repeatable."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check that a certificate holds.

    Computes the hash of the protected file, the figures and the requirements again and, if the seed is known or nothing
    is random, the file itself. Exit code 2 if something does not hold, with what it is.

    Example: equivoc verify protected.certificate.json people.csv protected.csv
    """
    from equivoc.decide.protection.verify import verify as check

    with waiting("verifying"):
        done = check(certificate, people, protected, seed=seed, hierarchy=hierarchy_files(hierarchy))
    if as_json:
        checks = [{"about": each.about, "holds": each.holds, "told": each.sentence} for each in done.checks]
        print(json.dumps({"holds": done.holds, "checks": checks}, indent=2))
    else:
        from equivoc.cli.output.terminal import Terminal

        terminal = Terminal()
        for each in done.checks:
            terminal.say(f"{MARKS[each.holds]}: {each.sentence}")
        if done.holds:
            terminal.say("The certificate holds.")
    if not done.holds:
        raise InputError(f"the certificate does not hold. {' '.join(done.problems)}")
