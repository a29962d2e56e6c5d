"""``equivoc table --compare``: several methods for one table, their risk and loss, and which to take."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.cli.output.terminal import Terminal
from equivoc.errors import InputError
from equivoc.number_format import counted, figure

if TYPE_CHECKING:
    from equivoc.decide.tables.table_comparison import TableComparison
    from equivoc.tables.rules import Rule

CompareOption = Annotated[
    str | None,
    typer.Option(
        "--compare",
        help="Compare methods and choose one: unprotected|suppress|round:5|round:5,controlled|redesign|noisy:1.",
    ),
]
FILES = ("comparison.csv", "why.csv")


def methods_from(text: str, rules: tuple[Rule, ...], hierarchies: str | None) -> list[Any]:
    """The methods that ``--compare`` names, separated by |; InputError names one that cannot be read."""
    return [_method(part.strip(), rules, hierarchies) for part in text.split("|")]


def _method(text: str, rules: tuple[Rule, ...], hierarchies: str | None) -> Any:
    from equivoc.tables.noisy_counts import NoisyCells
    from equivoc.tables.redesign import Redesign
    from equivoc.tables.rounding.cell_rounding import CellRounding
    from equivoc.tables.suppression.cell_suppression import CellSuppression
    from equivoc.techniques.unprotected import Unprotected

    name, _, setting = text.partition(":")
    if name in ("suppress", "redesign") and not rules:
        raise InputError(
            f"--compare {name} needs to know which cells are unsafe: give --rule, such as --rule p:10."
        )
    if name == "unprotected" and not setting:
        return Unprotected()
    if name == "suppress" and not setting:
        return CellSuppression(rule=rules)
    if name == "redesign" and not setting:
        if hierarchies is None:
            raise InputError("--compare redesign merges categories up their hierarchies: give --hierarchies.")
        return Redesign(rule=rules, hierarchies=hierarchies)
    if name == "round" and setting:
        base, _, method = setting.partition(",")
        return CellRounding(_number(text, base), method or "conventional")
    if name == "noisy" and setting:
        return NoisyCells(_number(text, setting))
    raise InputError(
        f"--compare holds {text!r}; give unprotected, suppress, round:5, round:5,random, round:5,controlled, redesign "
        "or noisy:1, separated by |."
    )


def _number(text: str, given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise InputError(f"--compare holds {text!r}, and {given!r} is not a number.") from None


def comparison_facts(done: TableComparison) -> dict[str, Any]:
    """The comparison, ready for JSON."""
    from equivoc.report.facts.json_values import json_values

    chosen = done.chosen
    facts: dict[str, Any] = json_values(
        {
            "kind": "comparison of tables",
            "headline": done.headline,
            "choice": None if chosen is None else chosen.notation,
            "meets": done.meets,
            "cells": done.cells,
            "hit_eps": done.hit_eps,
            "risk": done.risk.left,
            "riskier": done.risk.riskier,
            "loss": done.utility,
            "methods": [
                {
                    "notation": each.notation,
                    "risk": each.risk.mean,
                    "loss": each.loss.mean,
                    "risks": {name: found.mean for name, found in each.risks.items()},
                    "losses": {name: found.mean for name, found in each.losses.items()},
                    "meets": each.meets,
                    "front": front,
                    "chosen": each is chosen,
                    "outcomes": [outcome.facts for outcome in each.outcomes],
                    "reason": done.reasons.get(each.notation),
                }
                for each, front in zip(done.compared, done.front, strict=True)
            ],
        }
    )
    return facts


def print_table_comparison(facts: dict[str, Any], written: Sequence[Path]) -> None:
    """The choice, a row for each method, and why each other one was not chosen."""
    terminal = Terminal()
    methods = facts["methods"]
    terminal.say(f"{counted(len(methods), 'method')}; figures are over {facts['cells']}.")
    terminal.say(facts["headline"])
    safer = "less" if facts["riskier"] == "more" else "more"
    terminal.show(
        f"{facts['risk']}: {safer} is safer; {facts['loss']}: less is more useful",
        ("method", facts["risk"], facts["loss"], "meets", "front"),
        [
            (
                each["notation"],
                _shown(each["risk"]),
                _shown(each["loss"]),
                "yes" if each["meets"] else "no",
                "yes" if each["front"] else "no",
            )
            for each in methods
        ],
    )
    for each in methods:
        if each["reason"]:
            terminal.say(f"- {each['notation']}: {each['reason']}")
    for path in written:
        terminal.say(f"written: {path}")


def _shown(value: float | None) -> str:
    return "–" if value is None or isnan(value) else figure(value)
