"""The catalogue of the page: techniques with their parameters, figures, measures of loss, intruders, rules.

All of it comes from the techniques' own classes and from the tables that the library itself uses.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from equivoc.assessment.requirements.requirement import COMPARISONS, FIGURES, OVER
from equivoc.decide.comparison.wording import LOSS_WORDS
from equivoc.decide.protection.protect import PRIORS
from equivoc.errors import InputError
from equivoc.information_loss.overall import MEASURES
from equivoc.report.facts.comparison_facts import RISK_WORDS
from equivoc.report.facts.json_values import json_values
from equivoc.report.facts.utility_facts import LABELS
from equivoc.report.truth_wording import INTRUDERS as INTRUDER_WORDS
from equivoc.tables.redesign import Redesign
from equivoc.tables.rounding.cell_rounding import CellRounding
from equivoc.tables.rule_notation import RULES
from equivoc.tables.suppression.cell_suppression import CellSuppression
from equivoc.techniques.notation import TECHNIQUES
from equivoc.techniques.parameters import Parameter, first_sentence, parameters_of
from equivoc.techniques.technique import WORDS, Technique

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.web.live.held_people import HeldPeople

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
    told: dict[str, Any] = json_values(
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
    return told


def _technique(kind: type[Technique], people: Microdata | None) -> dict[str, Any]:
    parameters = [_parameter(each, people) for each in parameters_of(kind)]
    why_not = "" if people is None else _why_not(kind, people)
    return {
        "name": kind.name,
        "title": kind.name.replace("-", " ").capitalize() if kind.name != "pram" else "PRAM",
        "summary": first_sentence(kind),
        "parameters": parameters,
        "applies": not why_not,
        "why_not": why_not,
    }


def _parameter(each: Parameter, people: Microdata | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": each.name,
        "meaning": each.meaning,
        "kind": each.kind,
        "required": each.required,
        "default": each.default,
        "choices": None if each.choices is None else list(each.choices),
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
        told |= {"choices": [*people.keys, people.confidential], "words": list(WORDS)}
    setting = each.setting
    if setting is None:
        return told
    told |= {"stronger": setting.stronger, "unit": setting.unit, "step": 1 if setting.whole else setting.step}
    try:
        low, high = (setting.low, setting.high) if people is None else setting.range(people)
        values = list(setting.values(low, high))
    except InputError:
        return told
    if len(values) > MOST_VALUES:
        values = [
            values[round(place * (len(values) - 1) / (MOST_VALUES - 1))] for place in range(MOST_VALUES)
        ]
    start = values[len(values) // 5 if setting.stronger == "more" else -1 - len(values) // 5]
    told |= {"low": low, "high": high, "values": values, "start": start}
    return told | ({"default": start} if each.required else {})


def _why_not(kind: type[Technique], people: Microdata) -> str:
    """Why the technique cannot be used for these people; "" if it can."""
    name, attribute = people.confidential, people.attribute
    if kind.needs == "numbers" and not attribute.numeric:
        return f"{name} holds categories; this technique needs numbers."
    if kind.needs == "order" and not attribute.ordered:
        return f"{name} holds categories without an order; this technique moves values up or down."
    return ""
