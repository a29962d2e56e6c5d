"""The facts of a comparison: the choice, every technique with its figures, the requirements, and the reasons."""

from __future__ import annotations

from typing import Any

from equivoc.assessment.requirements.requirement import FIGURES
from equivoc.decide.comparison.compared import ComparedTechnique, Interval
from equivoc.decide.comparison.comparison import Comparison
from equivoc.decide.comparison.wording import LOSS_WORDS
from equivoc.models.phrases import listed
from equivoc.number_format import counted, figure
from equivoc.report.facts.assessment_facts import versions
from equivoc.report.facts.json_values import json_values

RISK_WORDS = {
    "h0": "her uncertainty about the exact value",
    "area": "her uncertainty over all tolerances",
    "surprise": "how much the true value surprises her",
    "gain": "how much less it surprises her than without the release",
    "hit": "the probability that she gives to her best guess",
    "true_hit": "the share of people for whom her best guess is right",
    "certain_right": "people about whom she is certain, and right",
    "k": "the fewest released records that are alike in the known keys",
}
"""What each figure of risk means."""


def comparison_facts(
    done: Comparison, *, unit: str = "", title: str | None = None, date: str | None = None
) -> dict[str, Any]:
    """The facts of the report of a comparison, ready for JSON."""
    data, risk, chosen = done.made_of["data"], done.risk, done.chosen
    told: dict[str, Any] = json_values(
        {
            "kind": "comparison",
            "title": title
            or f"How to publish {data['confidential']} of {counted(data['records'], 'person')}",
            "question": f"Which of {counted(len(done.techniques), 'technique')} meets the requirements and loses the "
            "least?"
            if done.requirements
            else f"Which of {counted(len(done.techniques), 'technique')} loses the least, and at what risk?",
            "headline": done.headline,
            "choice": None if chosen is None else chosen.notation,
            "meets": done.meets,
            "required": bool(done.requirements),
            "data": data,
            "known": list(done.known),
            "intruder": done.intruder,
            "prior": done.prior,
            "replicates": done.replicates,
            "hit_eps": done.hit_eps,
            "unit": unit,
            "risk": {
                "figure": risk.left,
                "unit": _unit(risk.kind.unit, unit, done.area_unit),
                "riskier": risk.riskier,
                "safer": "less" if risk.riskier == "more" else "more",
                "limit": risk.limit if done.requirements else None,
                "text": risk.text if done.requirements else None,
            },
            "loss": {"measure": done.utility, "words": LOSS_WORDS[done.utility]},
            "requirements": [
                {"text": outcome.text, "met_by": sum(each.outcomes[at].meets for each in done.compared)}
                for at, outcome in enumerate(done.compared[0].outcomes)
            ],
            "figures": [
                {
                    "name": name,
                    "words": words,
                    "unit": _unit(FIGURES[name].unit, unit, done.area_unit),
                    "riskier": FIGURES[name].riskier,
                }
                for name, words in RISK_WORDS.items()
            ],
            "losses": [{"name": name, "words": words} for name, words in LOSS_WORDS.items()],
            "techniques": [
                {
                    "number": number,
                    "notation": each.notation,
                    "technique": each.name,
                    "parameters": each.parameters,
                    "releases": each.releases,
                    "intruders": list(each.intruders),
                    "risk": _interval(each.risk),
                    "loss": _interval(each.loss),
                    "risks": {name: _interval(found) for name, found in each.risks.items()},
                    "losses": {name: _interval(found) for name, found in each.losses.items()},
                    "meets": each.meets,
                    "front": front,
                    "chosen": each is chosen,
                    "outcomes": [outcome.facts for outcome in each.outcomes],
                    "reason": done.reasons.get(each.notation),
                }
                for number, (each, front) in enumerate(zip(done.compared, done.front, strict=True), 1)
            ],
            "sentences": _sentences(done, unit),
            "versions": versions(),
            "seed": done.seed,
            "date": date,
        }
    )
    return told


def _interval(found: Interval) -> dict[str, float]:
    return {"mean": found.mean, "low": found.low, "high": found.high}


def _unit(text: str, unit: str, area_unit: str) -> str:
    return text.replace("the attribute's unit", unit or area_unit)


def _sentences(done: Comparison, unit: str) -> dict[str, str]:
    """What was done, in sentences."""
    data, chosen = done.made_of["data"], done.chosen
    knows = listed(done.known) if done.known else "no key"
    expects = (
        "all values to be equally likely"
        if done.prior == "uniform"
        else "the people's own distribution of values"
    )
    told = {
        "intruder": f"The intruder ({done.intruder}) knows {knows} of each person; without a release she expects "
        f"{expects}. She is the same for all techniques.",
        "replicates": (
            f"Random techniques were released {done.replicates} times with the seeds {done.seed} to "
            f"{done.seed + done.replicates - 1}; figures are means, with Student's 95 % interval of the mean. A "
            "requirement is met only if it is met at the riskier end of that interval."
            if done.replicates > 1
            else f"Every technique was released once, with the seed {done.seed}. The figures of a random technique "
            "depend on the draw; replicates show by how much."
        ),
        "hits": f"The columns hit and true_hit are at the tolerance ε = {figure(done.hit_eps)}"
        f"{f' {unit}' if unit else ''}: a guess within ε/2 of the true value counts as right.",
        "loss": f"Techniques are ranked by {done.utility} ({LOSS_WORDS[done.utility]}). The random queries and the "
        f"people held out are the same for all techniques (seed {done.seed}).",
        "front": "A technique is on the front if no other has at most its risk and at most its loss, and less of one "
        "of them.",
        "chosen": "" if chosen is None else _of_choice(done, chosen),
        "records": f"{counted(data['records'], 'record')}; keys: {listed(data['keys']) if data['keys'] else 'none'}.",
    }
    return told


def _of_choice(done: Comparison, chosen: ComparedTechnique) -> str:
    """What the choice means for risk and use."""
    risks = chosen.risks
    return (
        f"With {chosen.notation} the intruder gains {figure(risks['gain'].mean)} bits about a person's "
        f"{done.made_of['data']['confidential']}, and her best guess is right for a share of "
        f"{figure(risks['true_hit'].mean)} of the people (within half of {figure(done.hit_eps)})."
    )
