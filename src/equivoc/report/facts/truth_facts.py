"""The facts about the truth: what her beliefs are worth, which intruders were tried, and T(ε)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.intruder_table import intruder_rows
from equivoc.assessment.spread import spread
from equivoc.intruder.beliefs.truth import HALF_BIT
from equivoc.report import truth_wording

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

Floats = NDArray[np.float64]
FEW_SURPRISES = 25
"""At how many tolerances T(ε) is computed if it takes long, at most."""
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
    overall = result.truth.overall
    prior, bare = overall.prior_surprise, result.averages["unprotected"]["h0"]
    counts = result.posteriors.classes.counts
    before = -np.log2(np.maximum(result.prior_probabilities[counts.indices], np.finfo(float).tiny))
    told = {
        "surprise": overall.surprise,
        "prior": prior,
        "unprotected": bare,
        "gain": overall.gain,
        "trust": overall.trust,
        "given_away": share_given_away(overall.gain, prior),
        "given_away_unprotected": share_given_away(prior - bare, prior),
        "certain_right": round(overall.certain_right),
        "certain_wrong": round(overall.certain_wrong),
        "below_half_bit": overall.below_half_bit,
        "below_half_bit_without": float(np.average(before < HALF_BIT, weights=counts.data)),
        "over_people": spread(overall.surprises, counts.data),
        "gated": result.truth.facts.get("gated"),
    }
    sentence = truth_wording.truth_sentence(told)
    if told["gated"] is not None and told["gated"]["below_half_bit"] > told["below_half_bit"]:
        sentence += " " + truth_wording.gated_sentence(told["gated"]["below_half_bit"])
    return {**told, "sentence": sentence}


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
    calm = words == "little" and not right and not more
    return {
        "gives_away": words,
        "share_given_away": truth["given_away"],
        "share_given_away_unprotected": truth["given_away_unprotected"],
        "share_left": 1.0 - truth["given_away"],
        "share_left_unprotected": 1.0 - truth["given_away_unprotected"],
        "calm": calm if requirements is None else requirements["meets"],
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
