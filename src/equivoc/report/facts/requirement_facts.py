"""May the release be published under the requirements? If not, which one fails, by how much, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from equivoc.assessment.requirements.figures import figure_value, used_eps, value_without_release
from equivoc.assessment.requirements.outcome import Outcome
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.number_format import amount, bits, figure

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

LEAST_CONTRIBUTION = 1e-6
"""Bits: a key that contributes less is not named."""
OF_THE_FILE = ("k", "l", "t")
"""Figures that less detail in the confidential attribute does not improve."""


def requirement_facts(
    result: Assessment, every: Sequence[Outcome] | None = None, *, advice: bool = True
) -> dict[str, Any] | None:
    """The answer, each requirement's outcome, and what would help most; None without requirements.

    ``every`` are the outcomes of all confidential attributes, if there are several: one release is published or not.
    Without ``advice``, "help" is empty: it takes an assessment of its own and the contributions of all keys.
    """
    if not result.require:
        return None
    outcomes = result.requirements if every is None else every
    missed = next((each for each in result.requirements if not each.meets), None)
    return {
        "meets": all(each.meets for each in outcomes),
        "headline": publication_answer(outcomes),
        "help": "" if missed is None or not advice else help_sentence(result, missed),
        "note": _one_draw(result),
        "rows": [each.facts for each in result.requirements],
    }


def publication_answer(outcomes: Sequence[Outcome]) -> str:
    """The headline: may this be published under these requirements?

    >>> from equivoc.assessment.requirements.outcome import outcome
    >>> from equivoc.assessment.requirements.requirement import parse_requirement
    >>> publication_answer([outcome(parse_requirement("k >= 3"), [5.0])])
    'Yes, under this requirement it may be published. k >= 3 is met: it is 5, 2 from the limit.'
    >>> publication_answer([outcome(parse_requirement(text), [1.0]) for text in ("k >= 3", "h0 >= 2")])
    'No, under these requirements it may not be published. k >= 3 is not met: it is 1, which is 2 too little. 1 more \
is not met.'
    """
    these = "this requirement" if len(outcomes) == 1 else "these requirements"
    missed = [each for each in outcomes if not each.meets]
    several = len({each.attribute for each in outcomes}) > 1
    if not missed:
        met = outcomes[0].sentence if len(outcomes) == 1 else f"All {len(outcomes)} are met."
        return f"Yes, under {these} it may be published. {met}"
    whose = f"For {missed[0].attribute}, " if several else ""
    more = (
        f" {len(missed) - 1} more {'is' if len(missed) == 2 else 'are'} not met." if len(missed) > 1 else ""
    )
    return f"No, under {these} it may not be published. {whose}{missed[0].sentence}{more}"


def help_sentence(result: Assessment, missed: Outcome) -> str:
    """What would help most to meet the requirement, in plain words; "" if nothing can be said."""
    requirement = missed.requirement.at(used_eps(result, missed.requirement))
    if missed.value is None:
        return (
            f"Leave {requirement.text} out, or choose a technique that releases a file to which it applies."
        )
    if not requirement.limits_risk:
        return f"{requirement.text} asks for risk, not for safety; did you mean the other direction?"
    baseline = value_without_release(result, requirement)
    if baseline is not None and not requirement.keeps(baseline):
        return (
            f"Even without any release {requirement.left} is {figure(baseline)}, so no protection is likely to meet "
            f"{requirement.text}: choose another limit{' or a smaller tolerance ε' if requirement.eps else ''}."
        )
    detail = "" if requirement.figure in OF_THE_FILE else _less_detail(result, requirement)
    from_key = _largest_key(result, requirement)
    if from_key and detail:
        return f"{from_key} Less detail in {result.people.confidential} itself can also help: {detail}."
    if from_key:
        return from_key
    return f"What would help most is less detail in {result.people.confidential}: {detail}." if detail else ""


def _largest_key(result: Assessment, requirement: Requirement) -> str:
    """The known key that contributes most bits, and the figure without it; "" if no key contributes."""
    contributed: dict[str, float] = result.summary.get("contributions") or {}
    if not contributed or max(contributed.values()) < LEAST_CONTRIBUTION:
        return ""
    key = max(contributed, key=lambda name: contributed[name])
    total = sum(contributed.values())
    share = f" of the {bits(total)} that the known keys tell her" if len(contributed) > 1 else ""
    without = replace(
        result,
        known=tuple(name for name in result.known if name != key),
        require=(requirement,),
        replicates=1,
        control=None,
    )
    value = figure_value(without, requirement)
    told = (
        f"What would help most is to release {key} in less detail or not at all: it contributes "
        f"{figure(contributed[key])}{share or ' bits'}."
    )
    if value is None:
        return told
    enough = "which meets the limit" if requirement.keeps(value) else "which does not yet meet the limit"
    return f"{told} Without {key}, {requirement.left} is {figure(value)}, {enough}."


def _less_detail(result: Assessment, requirement: Requirement) -> str:
    """An example of a coarser confidential attribute."""
    attribute = result.people.attribute
    if not attribute.numeric:
        return "release larger categories, such as one level up its hierarchy"
    step = 2 * (requirement.eps or result.hit_eps)
    if not step:
        return "release rounded values"
    wide = f"twice the tolerance {amount(step / 2)}"
    return f"release it rounded to multiples of {amount(step)} or more ({wide})"


def _one_draw(result: Assessment) -> str:
    """The caveat about a single random release; "" if it does not apply."""
    if result.drawn_by is None or not result.drawn_by.random or result.replicates > 1:
        return ""
    return (
        f"The requirements were judged on one random release (seed {result.seed}); another one can differ. With "
        "replicates they are judged at the riskier end of a 95 % interval."
    )
