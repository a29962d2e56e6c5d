"""``equivoc protect``: writes the protected file and its certificate."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.cli.attribute_options import asked_tolerances, hierarchy_files, names
from equivoc.cli.options import (
    EscapeOption,
    PeopleOptions,
    RequireOption,
    asked_requirements,
    check_intruder,
    exit_code_of,
    with_options,
)
from equivoc.cli.process import waiting
from equivoc.errors import InputError
from equivoc.files import check_outputs
from equivoc.requests.named_files import technique_files
from equivoc.text import exact

if TYPE_CHECKING:
    from equivoc.protection.protect import Protected
    from equivoc.techniques.technique import Technique


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
    from equivoc.protection.protect import protect as write_protected
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
            from equivoc.render.comparison import protection_facts

            print(json.dumps(protection_facts(done), indent=2, allow_nan=False))
        else:
            _print(done)


def _print(done: Protected) -> None:
    from equivoc.protection.certificate import FIGURES
    from equivoc.render.lines import Terminal
    from equivoc.text import counted, figure

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


# ``equivoc verify``: checks a certificate against the people and the protected file.

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
    from equivoc.protection.verify import verify as check

    with waiting("verifying"):
        done = check(certificate, people, protected, seed=seed, hierarchy=hierarchy_files(hierarchy))
    if as_json:
        checks = [{"about": each.about, "holds": each.holds, "told": each.sentence} for each in done.checks]
        print(json.dumps({"holds": done.holds, "checks": checks}, indent=2))
    else:
        from equivoc.render.lines import Terminal

        terminal = Terminal()
        for each in done.checks:
            terminal.say(f"{MARKS[each.holds]}: {each.sentence}")
        if done.holds:
            terminal.say("The certificate holds.")
    if not done.holds:
        raise InputError(f"the certificate does not hold. {' '.join(done.problems)}")


# The command line of ``equivoc protect`` that makes a file with a chosen technique.


def protect_command(
    options: PeopleOptions, technique: Technique, require: Sequence[str], *, eps: str | None
) -> str | None:
    """The command with the same people and intruder; None for a technique that releases no file.

    No seed: the one that was tried is known to whoever reads this command, and noise can be undone with it.
    """
    from equivoc.techniques.query_restriction import QueryRestriction

    if isinstance(technique, QueryRestriction):
        return None
    words = ["equivoc", "protect", options.people]
    for option in fields(PeopleOptions):
        given = getattr(options, option.name)
        if option.name == "people" or (option.default is not MISSING and given == option.default):
            continue
        name = f"--{option.name.replace('_', '-')}"
        if given is True:
            words.append(name)
        else:
            for each in given if isinstance(given, list) else [given]:
                words += [name, exact(each) if isinstance(each, float) else str(each)]
    words += ["--technique", technique.notation]
    for text in require:
        words += ["--require", text]
    if eps is not None:
        words += ["--eps", eps]
    return shlex.join([*words, "--out", "protected.csv"])
