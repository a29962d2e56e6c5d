"""The value of a requirement's figure for an assessment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.requirements.requirement import Requirement
from equivoc.intruder.prior import marginal

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

Floats = NDArray[np.float64]
SAFE_SHARE = 95
"""Per cent of the people who are at least as safe as the figure @p95."""


def used_eps(result: Assessment, requirement: Requirement) -> float | None:
    """The tolerance of the figure in this assessment; None for a figure without one."""
    return eps_of(requirement, result.hit_eps)


def eps_of(requirement: Requirement, hit_eps: float) -> float | None:
    """The tolerance of the figure: its own, else 0 for surprise and gain, and ``hit_eps`` for hits."""
    if not requirement.kind.has_eps or requirement.eps is not None:
        return requirement.eps
    return 0.0 if requirement.figure in ("surprise", "gain") else hit_eps


def figure_value(result: Assessment, requirement: Requirement) -> float | None:
    """The figure of the requirement; None if it does not apply to this release (see `why_not`).

    The tolerance must be one of the assessment's. k, l and t are those of the released file by the known keys. Where
    trust was also estimated for each person (``result.truth.gated``), surprise and gain at ε = 0 are the riskier of
    both estimates.
    """
    if requirement.figure in ("k", "l", "t"):
        found: float | None = getattr(result.released_anonymity, requirement.figure)
        return found
    if requirement.figure == "certain_right":
        return float(round(result.truth.overall.certain_right))
    every = [over_people(figures, people, requirement) for figures, people in _of_people(result, requirement)]
    return max(every) if requirement.riskier == "more" else min(every)


def why_not(result: Assessment, requirement: Requirement) -> str:
    """Why the figure does not apply to this release; "" if it does."""
    if figure_value(result, requirement) is not None:
        return ""
    return result.released_anonymity.why_not


def value_without_release(result: Assessment, requirement: Requirement) -> float | None:
    """The figure of an intruder who has no release; None where it cannot be compared."""
    prior, eps = result.prior, requirement.eps
    if requirement.figure in ("h0", "area"):
        return float(getattr(prior, requirement.figure)[0])
    if eps is None:
        return None
    if requirement.figure == "hit":
        return float(prior.hit(eps)[0])
    if requirement.over != "mean":
        return None
    if requirement.figure == "surprise":
        return result.truth.prior_surprise[eps]
    # Someone who knows the true distribution is right as often as she believes.
    known = np.allclose(result.prior_probabilities, marginal(result.people), rtol=0, atol=1e-12)
    return float(prior.hit(eps)[0]) if requirement.figure == "true_hit" and known else None


def over_people(figures: Floats, people: NDArray[np.integer], requirement: Requirement) -> float:
    """Mean, riskiest, or the figure that at least 95 % of the people keep; each figure is that of so many people.

    >>> from equivoc.assessment.requirements.requirement import parse_requirement
    >>> figures, people = np.array([1.0, 2.0, 3.0]), np.array([1, 18, 1])
    >>> [over_people(figures, people, parse_requirement(f"h0@{over} >= 1")) for over in ("worst", "p95", "mean")]
    [1.0, 2.0, 2.0]
    """
    if requirement.over == "mean":
        return float(np.average(figures, weights=people))
    sign = 1.0 if requirement.riskier == "more" else -1.0
    order = np.argsort(sign * figures, kind="stable")  # the safest first
    if requirement.over == "worst":
        return float(figures[order[-1]])
    reached = np.cumsum(people[order])
    needed = -(-SAFE_SHARE * int(reached[-1]) // 100)  # whole numbers: no rounding decides about a person
    return float(figures[order][np.searchsorted(reached, needed)])


def _of_people(result: Assessment, requirement: Requirement) -> list[tuple[Floats, NDArray[np.integer]]]:
    """The figures, and of how many people each is: by class, or by class and true value."""
    found, truth, counts = result.figures, result.truth, result.posteriors.classes.counts
    eps = used_eps(result, requirement)
    match requirement.figure:
        case "h0" | "area" as name:
            return [(getattr(found, name), found.sizes)]
        case "hit":
            return [(found.hit[_own(eps)], found.sizes)]
        case "true_hit":
            return [(found.right[_own(eps)], counts.data)]
    estimates: list[Floats] = [truth.bits[_own(eps)]]
    if eps == 0 and truth.gated is not None:
        estimates.append(truth.gated.surprises)
    if requirement.figure == "surprise":
        return [(bits, counts.data) for bits in estimates]
    before = result.prior_surprises(_own(eps))[counts.indices]
    return [(before - bits, counts.data) for bits in estimates]


def _own(eps: float | None) -> float:
    assert eps is not None  # only figures with a tolerance get here
    return eps
