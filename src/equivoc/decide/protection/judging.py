"""The figures of a protected file, as made and as read again, and the requirements judged by the riskier of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equivoc.assessment.assess import assess
from equivoc.assessment.assessment import Assessment
from equivoc.assessment.requirements.figures import figure_value, used_eps, why_not
from equivoc.assessment.requirements.outcome import Outcome, outcome
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.decide.protection.certificate import FIGURES, rounded
from equivoc.intruder.release import Release


@dataclass(frozen=True)
class Setting:
    """The intruder for whom the file is assessed, and the requirements."""

    known: tuple[str, ...]
    prior: str
    intruder: str
    eps: Mapping[str, Sequence[float] | None]
    """The tolerances of each attribute; None: the default ones."""
    require: tuple[Requirement, ...]

    def assessed(self, releases: Mapping[str, Release]) -> dict[str, Assessment]:
        """The assessment of each attribute's release."""
        return {
            name: assess(
                release.people,
                release,
                known=list(self.known),
                eps=self.eps[name],
                prior=self.prior,
                intruder=self.intruder,
                require=self.require,
            )
            for name, release in releases.items()
        }


@dataclass(frozen=True)
class Judged:
    """A requirement of one attribute: the figure of the release as made, that of the file, and the riskier of both."""

    release: float | None
    file: float | None
    outcome: Outcome

    @property
    def facts(self) -> dict[str, Any]:
        """As a certificate holds it."""
        found = self.outcome
        return {
            "attribute": found.attribute,
            "requirement": found.requirement.text,
            "eps": found.eps,
            "release": rounded(self.release),
            "file": rounded(self.file),
            "limit": found.limit,
            "meets": found.meets,
            "missed_by": rounded(found.missed_by),
            "reason": found.reason,
        }


def judged(
    made: Mapping[str, Assessment], read: Mapping[str, Assessment], require: Sequence[Requirement]
) -> list[Judged]:
    """Every requirement for every attribute, by the figure that is nearer to the wrong side of the limit."""
    return [_judged(name, made[name], read[name], requirement) for name in made for requirement in require]


def _judged(name: str, made: Assessment, read: Assessment, requirement: Requirement) -> Judged:
    values = figure_value(made, requirement), figure_value(read, requirement)
    found = [value for value in values if value is not None]
    worse = max if requirement.comparison == "<=" else min
    eps = used_eps(made, requirement)
    reason = why_not(made, requirement)
    held = outcome(requirement, [worse(found) if found else None], eps=eps, reason=reason, attribute=name)
    return Judged(*values, held)


def release_figures(result: Assessment) -> dict[str, Any]:
    """The figures of a release as a certificate holds them, and the intruder and tolerance that they are for."""
    found = result.drawn_figures[0] | {"k": result.released_anonymity.k}
    return {
        "intruder": result.intruder,
        "eps": result.hit_eps,
        **{name: rounded(found[name]) for name in FIGURES},
    }
