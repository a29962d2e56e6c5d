"""``equivoc protect``: writes the protected file and its certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.cli.options.kind_options import asked_tolerances
from equivoc.cli.options.people_options import EscapeOption, PeopleOptions, check_intruder, with_options
from equivoc.cli.options.requirement_options import RequireOption, asked_requirements, exit_code_of
from equivoc.cli.options.technique_files import technique_files
from equivoc.cli.options.words import names
from equivoc.cli.output.waiting import waiting
from equivoc.files import check_outputs

if TYPE_CHECKING:
    from equivoc.decide.protection.protect import Protected


@dataclass(frozen=True, kw_only=True)
class ProtectOptions(PeopleOptions):
    """The people, the technique, and the intruder for whom the file is assessed."""

    technique: Annotated[str, typer.Option(help="The technique, such as noise-addition:percent=20.")]
    eps: Annotated[
        str | None,
        typer.Option(
            help="Tolerances for hit rates, in the confidential attribute's unit: 5,10. For several attributes, by "
            "name: salary=5,disease=1."
        ),
    ] = None


@with_options(ProtectOptions)
def protect(
    options: ProtectOptions,
    out: Annotated[
        Path, typer.Option(help="The protected file to write: its name ends in .csv or .parquet.")
    ],
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="The certificate to write; default: beside --out, such as protected.certificate.json."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Makes the same file again. Default: drawn by the operating system. Whoever knows it can undo the "
            "random changes.",
            min=0,
        ),
    ] = None,
    show_seed: Annotated[
        bool, typer.Option("--show-seed", help="Write the seed into the certificate and print it.")
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(help="Columns to publish as they are, separated by commas. They are not protected."),
    ] = None,
    keep_order: Annotated[
        bool,
        typer.Option("--keep-order", help="Leave the rows in the original's order; default: a random order."),
    ] = False,
    require: RequireOption = None,
    write_anyway: Annotated[
        bool, typer.Option("--write-anyway", help="Write the file even if a requirement is not met.")
    ] = False,
    escape: EscapeOption = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write the protected file and its certificate.

    The file has the keys and the confidential columns as the technique changes them. The certificate beside it holds
    the technique, the file's hash, the figures and the requirements; equivoc verify checks it. If a requirement is not
    met, no file is written, and the exit code is 3.

    Example: equivoc protect people.csv --confidential salary --keys age,sex --technique swapping:rate=0.2
    --require "gain <= 0.5" --out protected.csv
    """
    from equivoc.decide.protection.protect import protect as write_protected
    from equivoc.techniques.notation import technique_from

    check_intruder(options.prior, options.intruder)
    technique = technique_from(options.technique)
    required = asked_requirements(require)
    kept = [] if keep is None else names("--keep", keep)
    outputs = [out] if certificate is None else [out, certificate]
    check_outputs(outputs, inputs=[*options.inputs(), *technique_files(technique)])
    tolerances = asked_tolerances(options.eps, options.attributes())
    with waiting("protecting"):
        people = options.read()
        done = write_protected(
            people,
            technique,
            out,
            known=options.asked(people),
            seed=seed,
            show_seed=show_seed,
            keep=kept,
            keep_order=keep_order,
            require=required,
            eps=tolerances,
            prior=options.prior,
            intruder=options.intruder,
            certificate=certificate,
            escape=escape,
            write_anyway=write_anyway,
        )
    with exit_code_of(meets=done.meets):
        if as_json:
            from equivoc.report.facts.protection_facts import protection_facts

            print(json.dumps(protection_facts(done), indent=2, allow_nan=False))
        else:
            _print(done)


def _print(done: Protected) -> None:
    from equivoc.cli.output.terminal import Terminal
    from equivoc.decide.protection.certificate import FIGURES
    from equivoc.number_format import counted, figure

    terminal, facts = Terminal(), done.certificate
    file = facts["file"]
    terminal.say(
        f"{facts['technique']['notation']}: {counted(file['rows'], 'row')}, columns {', '.join(file['columns'])}."
    )
    for attribute, both in facts["figures"].items():
        made, read = both["release"], both["file"]
        eps = f"({figure(made['eps'])})"
        rows: list[tuple[str, ...]] = [("intruder", made["intruder"], read["intruder"])]
        for name in FIGURES:
            values = ["–" if each[name] is None else figure(each[name]) for each in (made, read)]
            rows.append((name + (eps if name in ("hit", "true_hit") else ""), *values))
        terminal.show("", (attribute, "as made", "as the file reads"), rows)
    for each in done.judged:
        whose = f"{each.outcome.attribute}: " if len(facts["figures"]) > 1 else ""
        terminal.say(f"{whose}{each.outcome.sentence}")
    for warning in done.warnings:
        terminal.say(f"Note: {warning}")
    if facts["seed"] is not None:
        terminal.say(f"Seed: {facts['seed']}")
    if done.written:
        terminal.say(f"written: {done.path}")
        terminal.say(f"written: {done.certificate_path}")
    else:
        terminal.say(
            "Not written, because a requirement is not met. --write-anyway writes the file nevertheless."
        )
