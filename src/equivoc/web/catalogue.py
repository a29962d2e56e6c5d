"""The catalogue of the page: techniques with their parameters, figures, measures of loss, intruders, rules.

All of it comes from the techniques' own classes and from the tables that the library itself uses.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError
from equivoc.experiments.ranked import LOSS_WORDS
from equivoc.information_loss.utility import MEASURES
from equivoc.notation.declared import Param, params
from equivoc.notation.described import first_sentence
from equivoc.notation.words import COLUMN_WORDS
from equivoc.protection.protect import PRIORS
from equivoc.render.comparison import RISK_WORDS
from equivoc.render.parts import LABELS, json_values
from equivoc.render.truth_wording import INTRUDERS as INTRUDER_WORDS
from equivoc.requirements.requirement import COMPARISONS, FIGURES, OVER
from equivoc.tables.cell_rounding import CellRounding
from equivoc.tables.redesign import Redesign
from equivoc.tables.rules import RULES
from equivoc.tables.suppression.cell_suppression import CellSuppression
from equivoc.techniques.notation import TECHNIQUES
from equivoc.techniques.technique import Technique, tried_parameters, useful_range

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.web.held_people import HeldPeople

MOST_VALUES = 101
FILES_ONLY = "released-file"
"""The technique that reads a file of its own."""
STRONGEST = "of those that apply, the one whose beliefs come closest to the truth"
RULE_TITLES = {
    "p": "p % rule",
    "pq": "pq rule",
    "dominance": "(n, k) dominance",
    "threshold": "few contributors",
}
RULE_EXAMPLES = {
    "p": "p:10",
    "pq": "pq:p=10,q=80",
    "dominance": "dominance:n=1,k=60",
    "threshold": "threshold:3",
}
METHODS: dict[str, tuple[str, type, str]] = {
    "suppress": ("withholding cells", CellSuppression, "suppress"),
    "round": ("rounding cells", CellRounding, "round:5"),
    "redesign": ("merging categories", Redesign, "redesign"),
}
"""What protects a table: its title, its class and how it is written."""
PRIOR_WORDS = {
    "marginal": "the distribution of the confidential values is publicly known",
    "uniform": "all values are equally likely before the release",
}
ANONYMITY_WORDS = {
    "l": "the fewest different values among released records that are alike in the known keys",
    "t": "the largest distance of a class's distribution of values from that of the whole file",
}


def catalogue(held: HeldPeople | None) -> dict[str, Any]:
    """Everything that the page offers; ranges of parameters are for these people."""
    people = None if held is None else held.people
    entries: dict[str, Any] = json_values(
        {
            "techniques": [
                _technique(kind, people) for kind in TECHNIQUES.values() if kind.name != FILES_ONLY
            ],
            "figures": [
                {
                    "name": name,
                    "meaning": {**RISK_WORDS, **ANONYMITY_WORDS}[name],
                    "unit": figure.unit,
                    "safer": "lower" if figure.riskier == "more" else "higher",
                    "comparison": "<=" if figure.riskier == "more" else ">=",
                    "has_eps": figure.has_eps,
                    "per_person": figure.per_person,
                    "over": list(OVER) if figure.per_person else ["mean"],
                    "low": figure.low,
                    "high": figure.high,
                }
                for name, figure in FIGURES.items()
            ],
            "comparisons": list(COMPARISONS),
            "utilities": [
                {"name": name, "label": LABELS[name], "meaning": LOSS_WORDS[name]} for name in MEASURES
            ],
            "intruders": [
                {"name": "strongest", "meaning": STRONGEST},
                *(
                    {"name": name, "meaning": words}
                    for name, words in INTRUDER_WORDS.items()
                    if name != "own"
                ),
            ],
            "priors": [{"name": name, "meaning": PRIOR_WORDS[name]} for name in PRIORS],
            "rules": [
                {
                    "name": name,
                    "title": RULE_TITLES[name],
                    "meaning": first_sentence(kind),
                    "example": RULE_EXAMPLES[name],
                    "parameters": [each.name for each in fields(kind)],
                }
                for name, kind in RULES.items()
            ],
            "methods": [
                {"name": "none", "title": "nothing", "meaning": "The table as it is.", "example": "none"},
                *(
                    {"name": name, "title": title, "meaning": first_sentence(kind), "example": example}
                    for name, (title, kind, example) in METHODS.items()
                ),
            ],
        }
    )
    return entries


def _technique(kind: type[Technique], people: Microdata | None) -> dict[str, Any]:
    parameters = [_parameter(each, people) for each in params(kind)]
    why_not = "" if people is None else _why_not(kind, people)
    return {
        "name": kind.name,
        "title": kind.name.replace("-", " ").capitalize() if kind.name != "pram" else "PRAM",
        "summary": first_sentence(kind),
        "parameters": parameters,
        "starting": _starting(kind, parameters),
        "applies": not why_not,
        "why_not": why_not,
    }


def _starting(kind: type[Technique], parameters: list[dict[str, Any]]) -> str:
    """The notation with which the page shows the technique at first: one that the technique accepts."""
    given = {each["name"]: each["default"] for each in parameters if each["required"]}
    try:
        return kind.read(given).notation
    except InputError:  # it needs one of several parameters: its usual one
        named = next(iter(tried_parameters(kind)), None)
        usual = next((each for each in parameters if each["name"] == named), None)
        if usual is None or usual["start"] is None:
            return kind.name
        return kind.read({**given, usual["name"]: usual["start"]}).notation


def _parameter(each: Param, people: Microdata | None) -> dict[str, Any]:
    default = None if each.required else each.default
    entry: dict[str, Any] = {
        "name": each.name,
        "meaning": each.meaning,
        "kind": each.kind,
        "required": each.required,
        "default": default,
        "choices": None if each.words is None else list(each.words),
        "words": None,
        "low": None,
        "high": None,
        "step": None,
        "values": None,
        "start": None,
        "stronger": None,
        "unit": None,
    }
    if each.kind == "columns" and people is not None:
        entry |= {"choices": [*people.keys, people.confidential], "words": list(COLUMN_WORDS)}
    tries = each.tries
    if tries is None:
        return entry
    entry |= {"stronger": tries.stronger, "unit": tries.unit, "step": 1 if tries.whole else tries.step}
    try:
        low, high = (tries.low, tries.high) if people is None else useful_range(each.name, tries, people)
        values = list(tries.values(low, high, name=each.name))
    except InputError:
        return entry
    if len(values) > MOST_VALUES:
        values = [
            values[round(place * (len(values) - 1) / (MOST_VALUES - 1))] for place in range(MOST_VALUES)
        ]
    start = values[len(values) // 5 if tries.stronger == "more" else -1 - len(values) // 5]
    entry |= {"low": low, "high": high, "values": values, "start": start}
    return entry | ({"default": start} if each.required else {})


def _why_not(kind: type[Technique], people: Microdata) -> str:
    """Why the technique cannot be used for these people; "" if it can."""
    name, attribute = people.confidential, people.attribute
    if kind.needs == "numbers" and not attribute.numeric:
        return f"{name} holds categories; this technique needs numbers."
    if kind.needs == "order" and not attribute.ordered:
        return f"{name} holds categories without an order; this technique moves values up or down."
    return ""
