"""``equivoc table --choose``: the mildest setting of one method that makes a table meet the requirements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.cli.output.terminal import Terminal
from equivoc.errors import InputError
from equivoc.number_format import exact, figure

if TYPE_CHECKING:
    from equivoc.assessment.requirements.requirement import Requirement
    from equivoc.decide.tables.choose_for_table import TableChoice
    from equivoc.tables.cell_table import CellTable

ChooseOption = Annotated[
    str | None,
    typer.Option(
        "--choose",
        help="Find the mildest setting that meets --require: round:5..60..5 (from, to, step), "
        "round:5..60..5,controlled, suppress:5..30 (p of the p% rule) or noisy:0.1..2 (ε).",
    ),
]
FILES = ("tried.csv",)


def chosen_setting(
    text: str, table: CellTable, *, require: Sequence[Requirement], seed: int, eps: Any
) -> TableChoice:
    """The result of the search that ``--choose`` describes."""
    from equivoc.decide.tables.choose_for_table import choose_for_table

    method, numbers = setting_range(text)
    low, high, step = (*numbers, None)[:3]
    return choose_for_table(table, method, require=require, low=low, high=high, step=step, seed=seed, eps=eps)


def setting_range(text: str) -> tuple[Any, list[float]]:
    """The method, and low, high and perhaps step of its setting; InputError if the text cannot be read."""
    from equivoc.tables.noisy_counts import NoisyCells
    from equivoc.tables.rounding.cell_rounding import CellRounding
    from equivoc.tables.suppression.cell_suppression import CellSuppression

    name, _, rest = text.partition(":")
    written, comma, way = rest.partition(",")
    kinds: dict[str, Any] = {"round": CellRounding, "suppress": CellSuppression, "noisy": NoisyCells}
    try:
        numbers = [float(number) for number in written.split("..")]
    except ValueError:
        numbers = []
    if name not in kinds or len(numbers) not in (2, 3) or (comma and name != "round"):
        raise InputError(
            f"--choose is {text!r}; give round:5..60, round:5..60..5,controlled, suppress:5..30 or noisy:0.1..2."
        )
    return CellRounding(method=way) if comma else kinds[name], numbers


def choice_facts(done: TableChoice) -> dict[str, Any]:
    """The choice, ready for JSON."""
    from equivoc.report.facts.json_values import json_values

    facts: dict[str, Any] = json_values(
        {
            "kind": "choice for a table",
            "sentence": done.sentence,
            "parameter": done.parameter,
            "value": done.value,
            "meets": done.chosen is not None,
            "tried": [
                {
                    "value": trial.value,
                    "meets": trial.meets,
                    "requirements": [outcome.facts for outcome in trial.outcomes],
                }
                for trial in done.trials
            ],
        }
    )
    return facts


def print_table_choice(facts: dict[str, Any], written: Sequence[Path]) -> None:
    """The choice in a sentence, and a row for each setting that was tried."""
    terminal = Terminal()
    terminal.say(facts["sentence"])
    required = [each["requirement"] for each in facts["tried"][0]["requirements"]]
    terminal.show(
        f"Settings of {facts['parameter']} in the order in which they were tried",
        (facts["parameter"], *required, "meets"),
        [
            (
                exact(trial["value"]),
                *("–" if each["value"] is None else figure(each["value"]) for each in trial["requirements"]),
                "yes" if trial["meets"] else "no",
            )
            for trial in facts["tried"]
        ],
    )
    for path in written:
        terminal.say(f"written: {path}")
