"""Whether a requirement is met, and by how much it is missed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.requirements.requirement import Requirement, check_contradictions
from equivoc.text import counted, figure

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

# The value of a requirement's figure for an assessment.

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
    both estimates. Hits and certainty are those of the intruder for whom they are largest. Where the technique names
    its own intruder, somebody who does not know the technique takes her place if she is stronger (``result.decisive``).
    """
    result = result.decisive
    if requirement.figure in ("k", "l", "t"):
        found: float | None = getattr(result.released_anonymity, requirement.figure)
        return found
    if requirement.figure == "certain_right":
        return float(round(result.truth.certain.truth.certain_right))
    every = [over_people(figures, people, requirement) for figures, people in _of_people(result, requirement)]
    return max(every) if requirement.riskier == "more" else min(every)


def why_not(result: Assessment, requirement: Requirement) -> str:
    """Why the figure does not apply to this release; "" if it does."""
    if figure_value(result, requirement) is not None:
        return ""
    return result.released_anonymity.why_not


def over_people(figures: Floats, people: NDArray[np.integer], requirement: Requirement) -> float:
    """Mean, riskiest, or the figure that at least 95 % of the people keep; each figure is that of so many people.

    >>> from equivoc.requirements.requirement import parse_requirement
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
            return [(each.right[_own(eps)], counts.data) for each in truth.everyone]
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


# Summary statistics of a figure: over classes, over people, over random releases.

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


def spread(figures: Floats, weights: NDArray[np.int64] | None = None) -> dict[str, float]:
    """Mean, least, greatest and quantiles; each figure counts ``weights`` times (None: once).

    A quantile is the least figure that at least that share of the weight does not exceed.

    >>> spread(np.array([1.0, 3.0]), np.array([3, 1]))["mean"], spread(np.array([1.0, 3.0]))["median"]
    (1.5, 1.0)
    """
    order = np.argsort(figures, kind="stable")
    ascending = figures[order]
    mass = np.arange(1, len(figures) + 1) if weights is None else np.cumsum(weights[order])
    places = np.searchsorted(mass, np.array(list(QUANTILES.values())) * mass[-1])
    return {
        "mean": float(np.average(figures, weights=weights)),
        "min": float(ascending[0]),
        **dict(zip(QUANTILES, ascending[places].tolist(), strict=True)),
        "max": float(ascending[-1]),
    }


def over_releases(figures: Sequence[float]) -> dict[str, float]:
    """Mean, standard deviation, least, greatest and Student's 95 % interval of the mean: mean ± t · sd / √r.

    >>> {name: round(each, 3) for name, each in over_releases([1.0, 2.0, 3.0]).items()}
    {'mean': 2.0, 'sd': 1.0, 'min': 1.0, 'max': 3.0, 'low': -0.484, 'high': 4.484}
    """
    many, least, most = len(figures), float(min(figures)), float(max(figures))
    if least == most:  # the mean of equal figures is that figure, without rounding errors
        return {"mean": least, "sd": 0.0, "min": least, "max": least, "low": least, "high": least}
    from scipy.special import stdtrit

    mean, sd = float(np.mean(figures)), float(np.std(figures, ddof=1))
    reach = float(stdtrit(many - 1, 0.975)) * sd / many**0.5
    return {"mean": mean, "sd": sd, "min": least, "max": most, "low": mean - reach, "high": mean + reach}


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
    nothing_released: float | None = None
    """The figure if nothing is released (of k, l and t: if everybody is alike in the keys); None if it is not known."""

    @property
    def beyond_reach(self) -> bool:
        """True if the limit is not met, and not even if nothing is released."""
        asked, without = self.requirement, self.nothing_released
        return not self.meets and asked.limits_risk and without is not None and not asked.keeps(without)

    @property
    def reach(self) -> str:
        """That not even releasing nothing keeps the limit, in a sentence; "" if it does.

        >>> from equivoc.requirements.requirement import parse_requirement
        >>> outcome(parse_requirement("true_hit(5) <= 0.5"), [0.9], nothing_released=0.67).reach
        'Even if nothing is released it is 0.67, so no protection is likely to meet this limit.'
        """
        if not self.beyond_reach or self.nothing_released is None:
            return ""
        alone = self.requirement.figure in KEYS_ALONE
        where = "if everybody is alike in the known keys" if alone else "if nothing is released"
        return f"Even {where} it is {figure(self.nothing_released)}, so no protection is likely to meet this limit."

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

        >>> from equivoc.requirements.requirement import parse_requirement
        >>> outcome(parse_requirement("true_hit(5) <= 0.2"), [0.25]).sentence
        'true_hit(5) <= 0.2 is not met: it is 0.25, which is 0.05 too much.'
        """
        return " ".join(filter(None, [self._verdict, self.reach]))

    @property
    def _verdict(self) -> str:
        if self.value is None or self.judged is None or self.missed_by is None:
            return f"{self.text} is not met: {self.reason}."
        words = f"it is {figure(self.value)}"
        if self.releases > 1 and self.low is not None and self.high is not None:
            words += (
                f" on average over {counted(self.releases, 'release')} (95 % interval {figure(self.low)} to "
                f"{figure(self.high)}, judged at {figure(self.judged)})"
            )
        if self.meets:
            spare = abs(self.limit - self.judged)
            words += f", {figure(spare)} from the limit" if spare > 1e-12 else ", exactly the limit"
        else:
            amount = "too much" if self.requirement.comparison == "<=" else "too little"
            words += f", which is {figure(self.missed_by)} {amount}"
        if not self.requirement.limits_risk:
            words += (
                f" (this asks for risk: {self.requirement.riskier} of {self.requirement.figure} is riskier)"
            )
        return f"{self.text} is {'met' if self.meets else 'not met'}: {words}."

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
            "reach": self.reach,
            "sentence": self.sentence,
        }


def outcome(
    requirement: Requirement,
    values: Sequence[float | None],
    *,
    eps: float | None = None,
    reason: str = "",
    attribute: str = "",
    nothing_released: float | None = None,
) -> Outcome:
    """Judge a requirement by the figure's value in each release.

    One value is judged by itself. Several are judged at the end of the 95 % interval of their mean (Student's) that
    is nearer to the wrong side of the limit; the interval ends where the figure's range does. ``eps`` is the tolerance
    that was used, ``reason`` why the figure does not apply (a value is None), ``nothing_released`` the figure then.
    """
    used = requirement.eps if requirement.eps is not None else eps
    found = [value for value in values if value is not None]
    if not values or len(found) < len(values):
        why = reason or f"{requirement.figure} does not apply to this release"
        return Outcome(
            requirement,
            None,
            None,
            None,
            used,
            requirement.limit,
            False,
            None,
            why,
            len(values),
            attribute,
            nothing_released,
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
        nothing_released,
    )


def doubted(found: Outcome, doubt: str) -> Outcome:
    """The outcome where posteriors may show less risk than there is: a limit of the risk that they keep is not met.

    ``doubt`` says why, "" if they do not. The figures of the keys alone (k, l, t) stand.

    >>> from equivoc.requirements.requirement import parse_requirement
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


def overruled(found: Outcome, why: str) -> Outcome:
    """The outcome where a fact beside the figures forbids the release, whatever they are; ``why`` is "" without one.

    >>> from equivoc.requirements.requirement import parse_requirement
    >>> overruled(outcome(parse_requirement("k >= 3"), [5]), "one cell can be computed exactly.").sentence
    'k >= 3 is not met: it is 5, but one cell can be computed exactly.'
    """
    if not why or not found.meets or found.value is None:
        return found
    return replace(
        found, meets=False, missed_by=None, reason=f"it is {figure(found.value)}, but {why.rstrip('.')}"
    )


# The requirements of an assessment, judged: over its replicates if there are several.


def outcomes_of(result: Assessment) -> tuple[Outcome, ...]:
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
                nothing_released=result.nothing_released.figure(
                    requirement.at(used_eps(result, requirement))
                ),
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
