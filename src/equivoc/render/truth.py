"""The facts about the truth: what her beliefs are worth, which intruders were tried, and T(ε)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.surprise import intruder_rows
from equivoc.intruder.truth import HALF_BIT
from equivoc.render import truth_wording
from equivoc.requirements.outcome import Outcome, figure_value, spread, used_eps
from equivoc.requirements.requirement import Requirement
from equivoc.text import amount, bits, figure

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

Floats = NDArray[np.float64]
FEW_SURPRISES = 33
"""At how many tolerances T(ε) is computed if it takes long, at most: every second one of a report's 65, so that both
lines have a point at each of them, and every one of the page's 33."""
MOST_ENTRIES = 2**22
"""The most classes × values × tolerances for which it is computed at every tolerance of H(ε): about a second."""
SPREAD_ROWS = (
    ("surprise", "Surprise, bits", "lower is riskier"),
    ("gain", "Gain, bits", "higher is riskier"),
    ("h0", "H0, bits", "lower is riskier"),
    ("area", "Area A", "lower is riskier"),
    ("hit", "Hit rate", "higher is riskier"),
    ("true_hit", "True-hit rate", "higher is riskier"),
    ("certain_right", "People certain and right", "higher is riskier"),
)


def truth_facts(result: Assessment) -> dict[str, Any]:
    """Surprise and gain at ε = 0, in bits, beside both baselines, the share given away, and people disclosed.

    The surprise of the file published unchanged is its mean H0: the shares of a class are the best prediction for it.
    """
    overall, certain = result.truth.overall, result.truth.certain.truth
    prior, bare = overall.prior_surprise, result.averages["unprotected"]["h0"]
    counts = result.posteriors.classes.counts
    before = -np.log2(np.maximum(result.prior_probabilities[counts.indices], np.finfo(float).tiny))
    facts = {
        "surprise": overall.surprise,
        "prior": prior,
        "unprotected": bare,
        "gain": overall.gain,
        "trust": overall.trust,
        "given_away": share_given_away(overall.gain, prior),
        "given_away_unprotected": share_given_away(prior - bare, prior),
        "certain_right": round(certain.certain_right),
        "certain_wrong": round(certain.certain_wrong),
        "below_half_bit": result.truth.exposing.truth.below_half_bit,
        "below_half_bit_without": float(np.average(before < HALF_BIT, weights=counts.data)),
        "over_people": spread(overall.surprises, counts.data),
        "gated": result.truth.facts.get("gated"),
        "intruders": result.truth.named,
    }
    sentence = truth_wording.truth_sentence(facts)
    if facts["gated"] is not None and facts["gated"]["below_half_bit"] > facts["below_half_bit"]:
        sentence += " " + truth_wording.gated_sentence(facts["gated"]["below_half_bit"])
    return {**facts, "sentence": sentence}


def participation_facts(result: Assessment) -> dict[str, Any] | None:
    """The figures of a file that is a sample, each with what it is about; None if nothing says that it is one."""
    found = result.participation
    if found is None:
        return None
    rows = [{**each, "label": truth_wording.PARTICIPATION[each["name"]]} for each in found["figures"]]
    return {**found, "figures": rows, "sentence": truth_wording.participation_sentence(found)}


def share_given_away(gain: float, prior: float) -> float:
    """The share of the prior's surprise that the release takes away, from 0 to 1.

    >>> share_given_away(1.0, 4.0), share_given_away(0.0, 0.0)
    (0.25, 0.0)
    """
    return min(max(gain / prior, 0.0), 1.0) if prior > 0 else 0.0


def verdict(
    truth: dict[str, Any], records: int, requirements: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The result in a headline: by what is disclosed in truth, or by the requirements if there are any."""
    words = truth_wording.verdict_words(truth["given_away"])
    right, below = truth["certain_right"], truth["below_half_bit"]
    if truth["gated"] is not None:
        below = max(below, truth["gated"]["below_half_bit"])
    more = below if below > truth["below_half_bit_without"] else 0.0
    disclosed = truth_wording.headline(words, right, truth["certain_wrong"], records, below=more)
    return {
        "gives_away": words,
        "share_given_away": truth["given_away"],
        "share_given_away_unprotected": truth["given_away_unprotected"],
        "share_left": 1.0 - truth["given_away"],
        "share_left_unprotected": 1.0 - truth["given_away_unprotected"],
        "calm": None if requirements is None else requirements["meets"],
        "headline": disclosed if requirements is None else requirements["headline"],
        "disclosed": disclosed,
        "half_bit": truth_wording.half_bit_sentence(below, truth["below_half_bit_without"]),
        "sentence": truth_wording.verdict_sentence(truth["given_away"], truth["given_away_unprotected"]),
    }


def intruder_facts(result: Assessment) -> dict[str, Any]:
    """The intruder that is used, those tried beside it, and why others were left out."""
    choice = result.choice
    return {
        "used": result.intruder,
        "asked": result.asked,
        "rows": intruder_rows(result, choice),
        "left_out": choice.left_out,
        "of_subsets": result.subset_intruder,
        "line": intruder_line(result),
        "sentence": truth_wording.intruder_sentence(result.intruder, result.asked, len(choice.tried)),
        "uses": {each.intruder: truth_wording.INTRUDERS[each.intruder] for each in choice.tried},
    }


def intruder_line(result: Assessment) -> str:
    """The intruders in one line."""
    tried = {each.intruder: each.truth.surprise for each in result.choice.tried}
    return truth_wording.intruder_line(result.intruder, tried, result.choice.left_out)


def surprise_facts(result: Assessment, eps: Floats, belief: Floats) -> dict[str, Any]:
    """T(ε) at some of the tolerances at which H(ε) is ``belief``."""
    cost = len(result.posteriors) * len(result.people.attribute) * len(eps)
    many = len(eps) if cost <= MOST_ENTRIES else min(len(eps), FEW_SURPRISES)
    places = np.unique(np.linspace(0, len(eps) - 1, many).round().astype(np.int64))
    found = result.surprise_curve(eps[places])
    return {
        "eps": found.eps,
        "every_tolerance": len(places) == len(eps),
        "bits": found.surprise,
        "drawn": found.drawn,
        "sentence": truth_wording.curve_sentence(found.surprise.tolist(), belief[places].tolist()),
    }


def spread_facts(result: Assessment) -> dict[str, Any] | None:
    """The spread over draws as a table; None for one release."""
    found = result.spread
    if found is None:
        return None
    return {
        "random": found["random"],
        "seeds": found["seeds"],
        "rows": [
            {"name": name, "label": label, "direction": direction, **found[name]}
            for name, label, direction in SPREAD_ROWS
        ],
        "sentence": truth_wording.spread_sentence(found),
    }


# May the release be published under the requirements? If not, which one fails, by how much, and what would
# help.

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

    >>> from equivoc.requirements.outcome import outcome
    >>> from equivoc.requirements.requirement import parse_requirement
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
    if missed.beyond_reach:
        return (
            f"Choose another limit for {requirement.left}{' or a smaller tolerance ε' if requirement.eps else ''}: no "
            "technique helps here."
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
    sentence = (
        f"What would help most is to release {key} in less detail or not at all: it contributes "
        f"{figure(contributed[key])}{share or ' bits'}."
    )
    if value is None:
        return sentence
    enough = "which meets the limit" if requirement.keeps(value) else "which does not yet meet the limit"
    return f"{sentence} Without {key}, {requirement.left} is {figure(value)}, {enough}."


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
