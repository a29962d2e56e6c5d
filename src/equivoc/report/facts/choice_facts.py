"""The facts of a choice among settings: the setting, what was tried, and what each technique loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from equivoc.report.facts.json_values import json_values

if TYPE_CHECKING:
    from equivoc.decide.choice.choose import Choice
    from equivoc.decide.choice.choose_among import ChoiceAmong


def choice_facts(done: ChoiceAmong) -> dict[str, Any]:
    """The facts, ready for JSON."""
    told: dict[str, Any] = json_values(
        {
            "technique": None if done.technique is None else done.technique.notation,
            "assessments": done.assessments,
            "utility": done.utility,
            "choices": [
                _choice_facts(choice, loss) for choice, loss in zip(done.choices, done.losses, strict=True)
            ],
        }
    )
    return told


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
