"""``equivoc choose``: the mildest setting of a technique that meets the requirements."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from equivoc.cli.attribute_options import asked_tolerances, one_attribute
from equivoc.cli.options import (
    EscapeOption,
    ParticipationOption,
    PeopleOptions,
    PopulationOption,
    RequireOption,
    asked_requirements,
    check_intruder,
    exit_code_of,
    with_options,
)
from equivoc.cli.process import StoppedError, waiting
from equivoc.cli.protect import protect_command
from equivoc.errors import InputError
from equivoc.files import check_outputs, write_csv
from equivoc.requests.named_files import named_files

TRIED = "tried.csv"
"""The settings that were tried."""


@with_options(PeopleOptions)
def choose(
    options: PeopleOptions,
    technique: Annotated[
        list[str],
        typer.Option(
            help="A technique and a range: noise-addition:percent=1..100 (or 1..100..5 with a step); a name alone has "
            "the technique's usual range. Repeatable."
        ),
    ],
    require: RequireOption = None,
    seed: Annotated[int, typer.Option(help="The seed of the releases that are tried.", min=0)] = 0,
    replicates: Annotated[
        int,
        typer.Option(
            help="Releases of a random technique per setting; it meets a requirement only if the riskier end of the "
            "95% interval does.",
            min=1,
        ),
    ] = 1,
    eps: Annotated[
        str | None,
        typer.Option(help="Tolerances for hit rates, in the confidential attribute's unit: 5,10."),
    ] = None,
    utility: Annotated[
        str,
        typer.Option(help="The measure of lost utility by which several techniques are compared."),
    ] = "query_error",
    participation: ParticipationOption = None,
    population: PopulationOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "--store", help="A folder for tried.csv; an interrupted search in it is continued."
        ),
    ] = None,
    progress: Annotated[
        str, typer.Option(help="auto (a line per setting on a terminal), plain (always), none.")
    ] = "auto",
    escape: EscapeOption = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the mildest setting that meets the requirements.

    Tries settings of one technique or of several, each at the mildest setting that meets every requirement; of
    several, the one that loses the least utility. Prints the command that makes the protected file.

    Example: equivoc choose people.csv --confidential salary --keys age,sex --technique noise-addition:percent=1..100
    --require "true_hit(5000) <= 0.2"
    """
    from equivoc.experiments.choose import choose_among
    from equivoc.experiments.stores import CHOICE_FILE
    from equivoc.experiments.workers import Interrupted
    from equivoc.intruder.participation import checked_participation
    from equivoc.requests.ranges import search_range_from

    one_attribute("equivoc choose", options.attributes())
    check_intruder(options.prior, options.intruder)
    if progress not in ("auto", "plain", "none"):
        raise InputError(f"--progress {progress}: choose auto, plain or none.")
    asked = asked_requirements(require)
    if not asked:
        raise InputError(
            "--require is missing; give at least one requirement, such as 'true_hit(5000) <= 0.2'."
        )
    ranges = [search_range_from(text) for text in technique]
    tolerances = asked_tolerances(eps, options.attributes())
    lines = progress == "plain" or (progress == "auto" and sys.stderr is not None and sys.stderr.isatty())
    outputs = [] if out is None else [out / TRIED, out / CHOICE_FILE]
    inputs = [*options.inputs(), *named_files([dict(each.fixed) for each in ranges])]
    check_outputs(outputs, inputs=inputs, folder=out)
    try:
        with waiting("choosing"):
            people = options.read()
            done = choose_among(
                people,
                ranges,
                require=asked,
                utility=utility,
                known=options.asked(people),
                seed=seed,
                replicates=replicates,
                eps=tolerances,
                prior=options.prior,
                intruder=options.intruder,
                participation=participation,
                population=population,
                store=out,
                progress=lines,
            )
    except Interrupted as stopped:
        again = shlex.join(["equivoc", *sys.argv[1:]])
        raise StoppedError(f"{stopped} To continue: {again}") from None
    if out is not None:
        check_outputs(outputs, inputs=inputs, folder=out)
        write_csv(done.tried, out / TRIED, escape=escape)
    command = None
    if done.technique is not None:
        command = protect_command(options, done.technique, [each.text for each in asked], eps=eps)
    if checked_participation(participation) != "known" and not as_json:
        typer.echo("equivoc protect judges the file by known participation, which is riskier.", err=True)
    with exit_code_of(meets=done.technique is not None):
        from equivoc.render.comparison import choice_facts, choice_lines
        from equivoc.render.lines import print_blocks

        if as_json:
            print(json.dumps(choice_facts(done) | {"protect": command}, indent=2, allow_nan=False))
        else:
            print_blocks(choice_lines(done, command))
