"""The requirements of an assessment, judged: over its replicates if there are several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from equivoc.assessment.requirements.figures import used_eps, why_not
from equivoc.assessment.requirements.outcome import Outcome, doubted, outcome
from equivoc.assessment.requirements.requirement import Requirement, check_contradictions

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment


def judged(result: Assessment) -> tuple[Outcome, ...]:
    """The outcome of each requirement of the assessment, in order."""
    if not result.require:
        return ()
    of_releases = [row["requirements"] for row in result.drawn_figures]
    return tuple(
        doubted(
            outcome(
                requirement,
                values,
                eps=used_eps(result, requirement),
                reason=why_not(result, requirement),
                attribute=result.people.confidential,
            ),
            result.release.doubt,
        )
        for requirement, values in zip(result.require, zip(*of_releases, strict=True), strict=True)
    )


def tolerances_with(required: Sequence[Requirement], eps: Iterable[float]) -> tuple[float, ...]:
    """The tolerances, and after them those that requirements name; each once."""
    named = [each.eps for each in required if each.eps is not None]
    return tuple(dict.fromkeys([*eps, *named]))


def check_at_used_tolerances(result: Assessment) -> None:
    """InputError if requirements contradict each other once every one has its tolerance."""
    check_contradictions([each.at(used_eps(result, each)) for each in result.require])
