"""The intruders that were tried, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from equivoc.assessment.class_figures import class_figures
from equivoc.assessment.surprise import truth_beside_belief
from equivoc.intruder.strengths.strongest import Choice

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment


def intruder_rows(result: Assessment, choice: Choice) -> list[dict[str, Any]]:
    """The rows of `Assessment.intruders`: those of this choice, and the one that the result uses."""
    tried = {each.intruder: each.posteriors for each in choice.tried}
    tried[result.intruder] = result.posteriors
    at = result.hit_eps
    rows = []
    for name, posteriors in tried.items():
        found, truth = result.figures, result.truth
        if name != result.intruder:
            found = class_figures(posteriors, (at,), tolerance=result.tolerance)
            truth = truth_beside_belief(posteriors, found, (at,), result.mixed_prior)
        rows.append(
            {
                "intruder": name,
                "h0": found.mean(found.h0),
                "area": found.mean(found.area),
                "surprise": truth.overall.surprise,
                "gain": truth.overall.gain,
                "trust": truth.overall.trust,
                "hit": found.mean(found.hit[at]),
                "true_hit": truth.true_hit[at],
                "used": name == result.intruder,
            }
        )
    return rows
