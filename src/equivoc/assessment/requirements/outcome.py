"""Whether a requirement is met, and by how much it is missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from equivoc.assessment.requirements.requirement import Requirement
from equivoc.assessment.spread import over_releases
from equivoc.number_format import counted, figure

KEYS_ALONE = ("k", "l", "t")
"""Figures of the released file, which depend on no posterior."""


@dataclass(frozen=True)
class Outcome:
    """A requirement beside what was measured. Figures are in the requirement's own unit."""

    requirement: Requirement
    """As it was asked."""
    value: float | None
    """The figure; the mean over releases if there are several. None: the figure does not apply to the release."""
    low: float | None
    """The lower end of the 95 % interval of the mean over releases; the value itself for one release."""
    high: float | None
    """The upper end."""
    eps: float | None
    """The tolerance at which it was measured; None for a figure without one."""
    limit: float
    meets: bool
    """True if the judged figure keeps the limit. A figure that does not apply never does."""
    missed_by: float | None
    """How far the judged figure is beyond the limit; 0 if it is met, None if the figure does not apply or cannot be
    relied on."""
    reason: str
    """Why the figure does not apply or cannot be relied on; "" if it does and can."""
    releases: int = 1
    """How many releases the value is a mean of."""
    attribute: str = ""
    """The confidential attribute."""

    @property
    def judged(self) -> float | None:
        """The figure that is held against the limit: the riskier end of the interval for a limit of the risk."""
        return self.high if self.requirement.comparison == "<=" else self.low

    @property
    def text(self) -> str:
        """The requirement, with the tolerance that was used."""
        return self.requirement.at(self.eps).text

    @property
    def sentence(self) -> str:
        """The outcome in a sentence.

        >>> from equivoc.assessment.requirements.requirement import parse_requirement
        >>> outcome(parse_requirement("true_hit(5) <= 0.2"), [0.25]).sentence
        'true_hit(5) <= 0.2 is not met: it is 0.25, which is 0.05 too much.'
        """
        if self.value is None or self.judged is None or self.missed_by is None:
            return f"{self.text} is not met: {self.reason}."
        told = f"it is {figure(self.value)}"
        if self.releases > 1 and self.low is not None and self.high is not None:
            told += (
                f" on average over {counted(self.releases, 'release')} (95 % interval {figure(self.low)} to "
                f"{figure(self.high)}, judged at {figure(self.judged)})"
            )
        if self.meets:
            spare = abs(self.limit - self.judged)
            told += f", {figure(spare)} from the limit" if spare > 1e-12 else ", exactly the limit"
        else:
            amount = "too much" if self.requirement.comparison == "<=" else "too little"
            told += f", which is {figure(self.missed_by)} {amount}"
        if not self.requirement.limits_risk:
            told += (
                f" (this asks for risk: {self.requirement.riskier} of {self.requirement.figure} is riskier)"
            )
        return f"{self.text} is {'met' if self.meets else 'not met'}: {told}."

    @property
    def facts(self) -> dict[str, Any]:
        """The outcome as plain values, for JSON."""
        own = asdict(self)
        return {
            **own,
            "requirement": self.text,
            "figure": self.requirement.figure,
            "over": self.requirement.over,
            "comparison": self.requirement.comparison,
            "judged": self.judged,
            "sentence": self.sentence,
        }


def outcome(
    requirement: Requirement,
    values: Sequence[float | None],
    *,
    eps: float | None = None,
    reason: str = "",
    attribute: str = "",
) -> Outcome:
    """Judge a requirement by the figure's value in each release.

    One value is judged by itself. Several are judged at the end of the 95 % interval of their mean (Student's) that
    is nearer to the wrong side of the limit; the interval ends where the figure's range does. ``eps`` is the tolerance
    that was used, ``reason`` why the figure does not apply (a value is None).
    """
    used = requirement.eps if requirement.eps is not None else eps
    found = [value for value in values if value is not None]
    if not values or len(found) < len(values):
        why = reason or f"{requirement.figure} does not apply to this release"
        return Outcome(
            requirement, None, None, None, used, requirement.limit, False, None, why, len(values), attribute
        )
    about = over_releases(found)
    least, most = requirement.range
    low, high = max(about["low"], least), min(about["high"], most)
    judged = high if requirement.comparison == "<=" else low
    meets = requirement.keeps(judged)
    missed = 0.0 if meets else abs(judged - requirement.limit)
    return Outcome(
        requirement,
        about["mean"],
        low,
        high,
        used,
        requirement.limit,
        meets,
        missed,
        "",
        len(found),
        attribute,
    )


def doubted(found: Outcome, doubt: str) -> Outcome:
    """The outcome where posteriors may show less risk than there is: a limit of the risk that they keep is not met.

    ``doubt`` says why, "" if they do not. The figures of the keys alone (k, l, t) stand.

    >>> from equivoc.assessment.requirements.requirement import parse_requirement
    >>> met = outcome(parse_requirement("h0 >= 1"), [3.0])
    >>> doubted(met, "two people were left out").sentence
    'h0 >= 1 is not met: 3 was computed, which proves nothing: two people were left out.'
    """
    asked = found.requirement
    if not doubt or not found.meets or not asked.limits_risk or asked.figure in KEYS_ALONE:
        return found
    assert found.value is not None
    why = f"{figure(found.value)} was computed, which proves nothing: {doubt}"
    return replace(found, meets=False, missed_by=None, reason=why)
