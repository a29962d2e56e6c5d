"""The facts of a comparison: the choice, every technique with its figures, the requirements, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

from equivoc.data.remarks import left_out_sentence
from equivoc.experiments.compared import ComparedTechnique, Interval
from equivoc.experiments.comparison import Comparison
from equivoc.experiments.ranked import LOSS_WORDS
from equivoc.render.assessment import versions
from equivoc.render.blocks import Block, Rows
from equivoc.render.parts import json_values
from equivoc.requirements.requirement import FIGURES
from equivoc.results.result import Renderer
from equivoc.text import counted, exact, figure, listed

if TYPE_CHECKING:
    from equivoc.experiments.choose import Choice, ChoiceAmong
    from equivoc.protection.protect import Protected

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
    facts: dict[str, Any] = json_values(
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
            "participation": done.participation,
            "replicates": done.replicates,
            "intervals": done.drawn_again,
            "tied": [each.notation for each in done.tied],
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
                    "tied": each in done.tied,
                    "failed": each.failure or None,
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
    return facts


def _interval(found: Interval) -> dict[str, float]:
    return {"mean": found.mean, "low": found.low, "high": found.high}


def _unit(text: str, unit: str, area_unit: str) -> str:
    return text.replace("the attribute's unit", unit or area_unit)


def _participation(done: Comparison) -> str:
    """That she does not know that her target took part, where that was asked for."""
    if done.participation == "known":
        return ""
    return (
        f"Participation is not known ({done.participation}): all figures are about the people in the file. "
    )


def _sentences(done: Comparison, unit: str) -> dict[str, str]:
    """What was done, in sentences."""
    data, chosen = done.made_of["data"], done.chosen
    knows = listed(done.known) if done.known else "no key"
    expects = (
        "all values to be equally likely"
        if done.prior == "uniform"
        else "the people's own distribution of values"
    )
    sentences = {
        "intruder": f"The intruder ({done.intruder}) knows {knows} of each person; without a release she expects "
        f"{expects}. {_participation(done)}She is the same for all techniques.",
        "replicates": _releases(done),
        "hits": f"The columns hit and true_hit are at the tolerance ε = {figure(done.hit_eps)}"
        f"{f' {unit}' if unit else ''}: a guess within ε/2 of the true value counts as right.",
        "loss": f"Techniques are ranked by {done.utility} ({LOSS_WORDS[done.utility]}). The random queries and the "
        f"people held out are the same for all techniques (seed {done.seed}).",
        "front": "A technique is on the front if no other has at most its risk and at most its loss, and less of one "
        "of them.",
        "chosen": "" if chosen is None else _of_choice(done, chosen),
        "records": f"{counted(data['records'], 'record')}; keys: {listed(data['keys']) if data['keys'] else 'none'}."
        + (f" {left_out_sentence(data)}" if data.get("left_out") else "")
        + "".join(f" {remark}" for remark in done.remarks),
    }
    return sentences


def _releases(done: Comparison) -> str:
    """How many releases were made of random techniques, and with which seeds."""
    many, most = done.replicates, max((each.releases for each in done.compared if each.random), default=0)
    asked = (
        f"Random techniques were released {many} times with the seeds {done.seed} to {done.seed + many - 1}"
        if many > 1
        else f"Every technique was released once, with the seed {done.seed}"
    )
    if not done.drawn_again:
        return f"{asked}. The figures of a random technique depend on the draw; replicates show by how much."
    again = (
        f"; the random ones that decide the choice {most} times, with the seeds {done.seed} to {done.seed + most - 1}"
        if most > many
        else ""
    )
    return (
        f"{asked}{again}. Figures of several releases are means, with Student's 95 % interval of the mean. A "
        "requirement is met only if it is met at the riskier end of that interval."
    )


def _of_choice(done: Comparison, chosen: ComparedTechnique) -> str:
    """What the choice means for risk and use."""
    risks = chosen.risks
    return (
        f"With {chosen.notation} the intruder gains {figure(risks['gain'].mean)} bits about a person's "
        f"{done.made_of['data']['confidential']}, and her best guess is right for a share of "
        f"{figure(risks['true_hit'].mean)} of the people (within half of {figure(done.hit_eps)})."
    )


# The facts of a choice among settings: the setting, what was tried, and what each technique loses.


def choice_facts(done: ChoiceAmong) -> dict[str, Any]:
    """The facts, ready for JSON."""
    facts: dict[str, Any] = json_values(
        {
            "technique": None if done.technique is None else done.technique.notation,
            "assessments": done.assessments,
            "utility": done.utility,
            "tied": [choice.technique.notation for choice in done.tied if choice.technique is not None],
            "notes": [
                *(remark.sentence for remark in done.choices[0].people.remarks),
                *([done.note] if done.note else []),
            ],
            "choices": [
                _choice_facts(choice, loss) for choice, loss in zip(done.choices, done.losses, strict=True)
            ],
        }
    )
    return facts


def _choice_facts(choice: Choice, loss: float | None) -> dict[str, Any]:
    return {
        "technique": choice.kind.name,
        "parameter": choice.parameter,
        "value": choice.value,
        "notation": None if choice.technique is None else choice.technique.notation,
        "meets": choice.technique is not None,
        "loss": loss,
        "failed": None if choice.milder is None else choice.milder.value,
        "binding": choice.binding,
        "missed_by": choice.missed_by,
        "assessments": choice.assessments,
        "sentence": choice.sentence,
        "tried": [
            {
                "value": trial.value,
                "meets": trial.meets,
                "requirements": [outcome.facts for outcome in trial.outcomes],
            }
            for trial in choice.trials
        ],
    }


# What is printed of a comparison.


def comparison_lines(done: Comparison) -> Iterator[Block]:
    """The choice, a table of all techniques, and why each other one was not chosen."""
    data, risk = done.made_of["data"], done.risk
    knows = ", ".join(done.known) or "no key"
    yield (
        f"{counted(data['records'], 'record')}; {counted(len(done.techniques), 'technique')}; an intruder "
        f"({done.intruder}) who knows {knows}; prior: {done.prior}. {_participation(done)}".rstrip()
    )
    if data.get("left_out"):
        yield left_out_sentence(data)
    yield from done.remarks
    yield done.headline
    safer = "less" if risk.riskier == "more" else "more"
    rows = [
        (
            str(number),
            each.notation,
            _shown(each.risk.mean),
            _shown(each.loss.mean),
            "–" if each.failure else str(each.releases),
            "failed" if each.failure else meets(each.meets, required=bool(done.requirements)),
            "yes" if front else "no",
        )
        for number, (each, front) in enumerate(zip(done.compared, done.front, strict=True), 1)
    ]
    columns = ("", "technique", risk.left, done.utility, "releases", "meets", "front")
    drawn = sorted({each.releases for each in done.compared if each.releases > 1})
    over = f", means where there are {' or '.join(map(str, drawn))} releases" if drawn else ""
    yield Rows(
        f"{risk.left}: {risk.kind.unit}, {safer} is safer; {done.utility}: less is more useful{over}",
        columns,
        rows,
        left=2,
    )
    if done.reasons:
        yield "Why not the others:" if done.meets else "Why none:"
        for notation, reason in done.reasons.items():
            yield f"- {notation}: {reason}"


def meets(yes: bool, *, required: bool) -> str:
    """Without a requirement nothing is met."""
    return ("yes" if yes else "no") if required else "–"


def _shown(value: float) -> str:
    return "–" if isnan(value) else figure(value)


def choice_lines(done: ChoiceAmong, command: str | None) -> Iterator[Block]:
    """What was tried, the chosen setting, and the ``command`` that makes the file; None: it makes no file."""
    for remark in done.choices[0].people.remarks:
        yield remark.sentence
    for choice in done.choices:
        outcomes = choice.trials[0].outcomes
        yield Rows(
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
        yield choice.sentence
    best = done.best
    if best is None:
        if len(done.choices) > 1:
            yield f"No technique meets the requirements; {done.closest.kind.name} comes closest."
        return
    assert best.technique is not None
    if len(done.choices) > 1:
        yield Rows(
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
    yield f"Chosen: {best.technique.notation}.{cost}"
    if done.note:
        yield done.note
    if command is None:
        yield f"{best.kind.name} answers queries and releases no file."
    else:
        yield f"To make the file: {command}"


# The facts of a protected file: where it is, whether it meets the requirements, and its certificate.


def protection_facts(done: Protected) -> dict[str, Any]:
    """The facts, ready for JSON."""
    return {
        "written": done.written,
        "files": {"protected": str(done.path), "certificate": str(done.certificate_path)},
        "meets": done.meets,
        "requirements": [each.outcome.facts for each in done.judged],
        "warnings": list(done.warnings),
        "certificate": done.certificate,
    }


# In a notebook, and as a page.


def comparison_notebook(done: Comparison) -> str:
    """The choice, the chart and the table as self-contained HTML."""
    from equivoc.charts.drawing import svg

    drawing = svg(done.plot())
    table = done.frame.to_html(index=False, float_format=figure, escape=True, border=0)
    return f"<p>{escape(done.headline)}</p>{drawing}<details><summary>all figures</summary>{table}</details>"


RENDERER = Renderer(
    comparison_facts,
    frozenset({"unit", "title", "date"}),
    comparison_notebook,
    comparison_lines,
    "comparison",
    lambda facts, done: {"map": done.plot()},
)
