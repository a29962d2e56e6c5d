"""One technique of a comparison: its figures over the replicates, and how it stands to each requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan

from equivoc.assessment.requirements.figures import eps_of
from equivoc.assessment.requirements.outcome import Outcome, outcome
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.assessment.spread import over_releases
from equivoc.decide.comparison.cell import ALWAYS, ComparedCell
from equivoc.information_loss.overall import MEASURES
from equivoc.techniques.technique import Technique

RISK_WITHOUT_REQUIREMENTS = next(each for each in ALWAYS if each.figure == "gain")
"""The figure of risk that ranks techniques if nothing is required."""


@dataclass(frozen=True)
class Interval:
    """A mean over replicates and its 95 % interval; NaN where the figure does not apply."""

    mean: float
    low: float
    high: float


MISSING = Interval(nan, nan, nan)


@dataclass(frozen=True, eq=False)
class ComparedTechnique:
    """What was measured of one technique."""

    technique: Technique
    risks: dict[str, Interval]
    """The figures of the columns, by name."""
    losses: dict[str, Interval]
    """Every measure of what is lost, by name."""
    risk: Interval
    """The figure that ranks techniques by risk."""
    loss: Interval
    """The measure that ranks them by what they lose."""
    outcomes: tuple[Outcome, ...]
    """How it stands to each requirement."""
    intruders: tuple[str, ...]
    """The intruders that were used in its releases."""
    releases: int

    @property
    def notation(self) -> str:
        return self.technique.notation

    @property
    def name(self) -> str:
        return self.technique.name

    @property
    def parameters(self) -> str:
        return self.notation.partition(":")[2]

    @property
    def meets(self) -> bool:
        """True if it meets every requirement."""
        return all(each.meets for each in self.outcomes)


def compared(
    technique: Technique,
    cells: Sequence[ComparedCell],
    *,
    asked: Sequence[Requirement],
    utility: str,
    hit_eps: float,
) -> ComparedTechnique:
    """The figures of a technique over its cells."""

    def judged(requirement: Requirement) -> Outcome:
        left = requirement.left
        return outcome(
            requirement,
            [cell.risks[left] for cell in cells],
            eps=eps_of(requirement, hit_eps),
            reason=next((cell.reasons[left] for cell in cells if left in cell.reasons), ""),
        )

    def interval(requirement: Requirement) -> Interval:
        found = judged(requirement)
        if found.value is None or found.low is None or found.high is None:
            return MISSING
        return Interval(found.value, found.low, found.high)

    lost = {name: _loss([cell.losses[name] for cell in cells]) for name in MEASURES}
    return ComparedTechnique(
        technique,
        {each.figure: interval(each) for each in ALWAYS},
        lost,
        interval(ranking_figure(asked)),
        lost[utility],
        tuple(map(judged, asked)),
        tuple(sorted({cell.intruder for cell in cells})),
        len(cells),
    )


def ranking_figure(asked: Sequence[Requirement]) -> Requirement:
    """The figure that ranks by risk: that of the first requirement; without requirements, the gain."""
    return asked[0] if asked else RISK_WITHOUT_REQUIREMENTS


def _loss(values: Sequence[float | None]) -> Interval:
    found = [value for value in values if value is not None]
    if not found or len(found) < len(values):
        return MISSING
    about = over_releases(found)
    return Interval(about["mean"], max(about["low"], 0.0), about["high"])


def rank(each: ComparedTechnique, riskier: str) -> tuple[float, float]:
    """Sorts techniques: the least loss first, then the least risk; unknown figures last."""
    risk = each.risk.mean if riskier == "more" else -each.risk.mean
    return (inf if each.loss.mean != each.loss.mean else each.loss.mean, inf if risk != risk else risk)
