"""One setting that was tried: its technique, and how it stands to each requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from equivoc.assessment.requirements.outcome import Outcome
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.techniques.technique import Technique

WITH_THE_SETTING = ("h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right")
"""The figures that follow a monotone parameter. k, l and t describe the released keys: a smaller sample has a smaller
k, though it is safer."""


@dataclass(frozen=True)
class Trial:
    """A setting and the outcome of each requirement."""

    technique: Technique
    value: float
    outcomes: tuple[Outcome, ...]
    without_release: tuple[float | None, ...]
    """The figure of each requirement for an intruder who has no release; None where it cannot be compared."""

    @property
    def meets(self) -> bool:
        """True if it meets every requirement."""
        return all(each.meets for each in self.outcomes)

    @property
    def missed(self) -> float:
        """By how much it misses the requirements, relative to their limits; 0 if it meets them."""
        return max(map(_relative, self.outcomes))

    @property
    def binding(self) -> Outcome | None:
        """The requirement that is missed by the largest share of its limit; None if all are met."""
        return None if self.meets else max(self.outcomes, key=_relative)

    @property
    def hopeless(self) -> tuple[Outcome, float] | None:
        """A requirement that is not met even without a release, and its figure then; None if there is none."""
        for each, baseline in zip(self.outcomes, self.without_release, strict=True):
            if not each.meets and baseline is not None and not each.requirement.keeps(baseline):
                return each, baseline
        return None


def _relative(outcome: Outcome) -> float:
    if outcome.meets:
        return 0.0
    if outcome.missed_by is None:  # the figure does not apply to this release
        return inf
    # A limit missed by less than can be written as a number is still missed.
    return max(outcome.missed_by / (abs(outcome.limit) or 1.0), 5e-324)


def follow_the_setting(requirements: Sequence[Requirement]) -> bool:
    """True if each requirement limits the risk in a figure that moves with a monotone parameter.

    The figure of the riskiest person depends on the draw too much.
    """
    return all(
        each.figure in WITH_THE_SETTING and each.over != "worst" and each.limits_risk for each in requirements
    )
