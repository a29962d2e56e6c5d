"""``equivoc choose``: the mildest setting of a technique that meets the requirements."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.cli.options.kind_options import asked_tolerances, one_attribute
from equivoc.cli.options.people_options import PeopleOptions, check_intruder, with_options
from equivoc.cli.options.requirement_options import RequireOption, asked_requirements, exit_code_of
from equivoc.cli.output.protect_command import protect_command
from equivoc.cli.output.waiting import waiting
from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.decide.choice.choose_among import ChoiceAmong


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
    progress: Annotated[
        str, typer.Option(help="auto (a line per setting on a terminal), plain (always), none.")
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the mildest setting that meets the requirements.

    Tries settings of one technique or of several, each at the mildest setting that meets every requirement; of
    several, the one that loses the least utility. Prints the command that makes the protected file.

    Example: equivoc choose people.csv --confidential salary --keys age,sex --technique noise-addition:percent=1..100
    --require "true_hit(5000) <= 0.2"
    """
    from equivoc.decide.choice.choose_among import choose_among
    from equivoc.decide.choice.search_range import search_range_from

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
            progress=lines,
        )
    again = None
    if done.technique is not None:
        again = protect_command(options, done.technique, [each.text for each in asked], eps=eps)
    with exit_code_of(meets=done.technique is not None):
        if as_json:
            from equivoc.report.facts.choice_facts import choice_facts

            print(json.dumps(choice_facts(done) | {"protect": again}, indent=2, allow_nan=False))
        else:
            _print(done, again)


def _print(done: ChoiceAmong, again: str | None) -> None:
    from equivoc.cli.output.terminal import Terminal
    from equivoc.number_format import exact, figure

    terminal = Terminal()
    for choice in done.choices:
        outcomes = choice.trials[0].outcomes
        terminal.show(
            f"{choice.kind.name}: {choice.parameter}, the mildest setting first",
            (choice.parameter, *(outcome.text for outcome in outcomes), "meets"),
            [
                (
                    exact(trial.value),
                    *("–" if each.judged is None else figure(each.judged) for each in trial.outcomes),
                    "yes" if trial.meets else "no",
                )
                for trial in choice.mildest_first
            ],
        )
        terminal.say(choice.sentence)
    best = done.best
    if best is None:
        if len(done.choices) > 1:
            terminal.say(f"No technique meets the requirements; {done.closest.kind.name} comes closest.")
        return
    assert best.technique is not None
    if len(done.choices) > 1:
        terminal.show(
            "The mildest setting of each technique; less loss is better",
            ("technique", done.utility, "chosen"),
            [
                (
                    each.kind.name if each.technique is None else each.technique.notation,
                    "–" if loss is None else figure(loss),
                    "yes" if each is best else "" if each.technique is not None else "fails",
                )
                for each, loss in zip(done.choices, done.losses, strict=True)
            ],
        )
    loss = done.losses[done.choices.index(best)]
    cost = "" if loss is None else f" It loses {figure(loss)} by {done.utility} (0: nothing)."
    terminal.say(f"Chosen: {best.technique.notation}.{cost}")
    if again is None:
        terminal.say(f"{best.kind.name} answers queries and releases no file.")
    else:
        terminal.say(f"To make the file: {again}")
