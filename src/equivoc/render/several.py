"""The facts of several confidential attributes: the facts of each, and of all combined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equivoc.assessment.assessment import Assessment
from equivoc.attributes.attribute import closeness
from equivoc.render.assessment import assessment_facts
from equivoc.render.parts import json_values
from equivoc.render.truth import publication_answer
from equivoc.results.result import Renderer
from equivoc.text import figure as in_digits
from equivoc.text import listed, probability

if TYPE_CHECKING:
    from equivoc.assessment.several import SeveralAssessments


def several_facts(
    result: SeveralAssessments, *, units: Mapping[str, str] | None = None, **options: Any
) -> dict[str, Any]:
    """One set of facts per attribute, by name, and ``together``. ``options`` are those of `assessment_facts`."""
    units = {} if units is None else units
    facts = {
        "kind": "assessments",
        "technique": result.technique,
        "known": result.known,
        "attributes": {
            name: assessment_facts(
                each, unit=units.get(name, ""), every_outcome=result.requirements, **options
            )
            for name, each in result.attributes.items()
        },
        "together": together_facts(result, units),
        "requirements": {
            "meets": result.meets,
            "headline": publication_answer(result.requirements),
            "rows": [each.facts for each in result.requirements],
        }
        if result.requirements
        else None,
    }
    plain: dict[str, Any] = json_values(facts)
    return plain


def one_or_several_facts(
    result: Assessment | SeveralAssessments, units: Mapping[str, str], **options: Any
) -> dict[str, Any]:
    """The facts of one attribute's assessment, or of several; ``units`` by attribute."""
    if isinstance(result, Assessment):
        return assessment_facts(result, unit=units[result.people.confidential], **options)
    return several_facts(result, units=units, **options)


def together_facts(result: SeveralAssessments, units: Mapping[str, str]) -> dict[str, Any]:
    """The figures of all attributes together, each with its unit, its meaning, and which direction is safer."""
    found = result.together
    close = [
        f"{name} {closeness(each.people.attribute, result.eps[name], units.get(name, '')).label}"
        for name, each in result.attributes.items()
    ]
    whole = listed(list(result.attributes))
    rows = [
        ("h0", "H0", "bits", f"the remaining uncertainty about {whole} together", "higher"),
        ("surprise", "surprise", "bits", "how unexpected the true combination is to her", "higher"),
        ("gain", "gain", "bits", "what the release tells her about the true combination", "lower"),
        (
            "true_hit",
            "true hit",
            "share of people",
            "her best guess of the whole combination is right",
            "lower",
        ),
        (
            "any_true_hit",
            "any true hit",
            "share of people",
            f"her best guess is right for at least one: {', '.join(close)}",
            "lower",
        ),
    ]
    return {
        "figures": [
            {
                "name": name,
                "label": label,
                "unit": unit,
                "meaning": meaning,
                "safer": safer,
                "value": found[name],
            }
            for name, label, unit, meaning, safer in rows
        ],
        **found,
        "eps": result.eps,
        "why_not": result.why_not,
    }


def together_value(figure: Mapping[str, Any]) -> str:
    """A figure of `together_facts` as printed; a dash where it cannot be computed for the technique."""
    value = figure["value"]
    if value is None:
        return "–"
    return in_digits(value) if figure["unit"] == "bits" else probability(value)


RENDERER = Renderer(several_facts, frozenset({"units", "record_values", "title", "date", "budget"}))
