"""One technique of a comparison: its figures over the replicates, and how it stands to each requirement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf, isnan, nan
from time import perf_counter

from equivoc.assessment.assess import assess
from equivoc.assessment.assessment import Assessment
from equivoc.assessment.participation import Participation
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.experiments.cell import CellKey
from equivoc.information_loss.utility import MEASURES, losses, overall
from equivoc.intruder.prior import Prior
from equivoc.parallel import on_one_core
from equivoc.requirements.outcome import (
    Outcome,
    eps_of,
    figure_value,
    outcome,
    over_releases,
    tolerances_with,
    why_not,
)
from equivoc.requirements.requirement import Requirement
from equivoc.techniques.technique import Technique

# The unit of a comparison: one release of one technique, its risk and what it loses. A pure function of its
# key.

COLUMNS = ("h0", "area", "surprise", "gain", "hit", "true_hit", "certain_right", "k")
"""The figures of risk that every comparison shows."""
ALWAYS = tuple(Requirement(name, None, "mean", "<=", 1.0) for name in COLUMNS)
"""Requirements that stand for these figures; their limits are not used."""


@dataclass(frozen=True)
class ComparedCell:
    """The figures of one release."""

    key: CellKey
    risks: Mapping[str, float | None]
    """By the left side of a requirement, such as ``true_hit(5000)@worst``; None if it does not apply."""
    losses: Mapping[str, float | None]
    """By measure; 0 if nothing is lost, None if the measure does not apply."""
    reasons: Mapping[str, str]
    """Why figures do not apply, by the same names as ``risks``."""
    intruder: str
    """The intruder that was used."""
    seconds: float = field(compare=False)
    """How long it took; the only part that differs from run to run."""
    failure: str = ""
    """Why the release could not be made or measured, in a sentence; "" if it could. Then there are no figures."""

    @classmethod
    def failed(cls, key: CellKey, why: str, seconds: float = 0.0) -> ComparedCell:
        """A release that could not be made or measured."""
        return cls(key, {}, {}, {}, "", seconds, why)


@dataclass(frozen=True, eq=False)
class ComparedSetting:
    """What all cells of a comparison share."""

    people: Microdata
    techniques: Mapping[str, Technique]
    """By notation."""
    known: tuple[str, ...]
    seed: int
    prior: Prior
    intruder: str
    participant: Participation
    eps: tuple[float, ...]
    """The tolerances that are measured; the first above 0 is that of ``hit`` and ``true_hit``."""
    wanted: tuple[Requirement, ...]
    """The figures of risk, without repetitions."""
    with_losses: bool = True
    """False: only risks are measured."""

    def measure(self, key: CellKey) -> ComparedCell:
        """Make one release, assess it, and measure what it loses. What goes wrong is the cell's `failure`."""
        begin = perf_counter()
        with self._same_bits():
            try:
                result: Assessment = assess(
                    self.people,
                    self.techniques[key.technique],
                    known=self.known,
                    seed=self.seed + key.replicate,
                    eps=self.eps,
                    prior=self.prior,
                    intruder=self.intruder,
                    participation=self.participant.asked,
                    population=self.participant.population,
                )
                risks = {each.left: figure_value(result, each) for each in self.wanted}
                reasons = {
                    each.left: why_not(result, each) for each in self.wanted if risks[each.left] is None
                }
                # The same seed for all techniques and replicates: they answer the same random queries.
                lost = (
                    overall(losses(self.people, result.release, seed=self.seed)) if self.with_losses else {}
                )
            except InputError as mistake:
                return ComparedCell.failed(key, str(mistake), perf_counter() - begin)
            except MemoryError:
                why = (
                    f"there is too little memory for {len(self.people.values):,} values of "
                    f"{self.people.confidential!r}; round them to fewer values."
                )
                return ComparedCell.failed(key, why, perf_counter() - begin)
        return ComparedCell(key, risks, lost, reasons, result.decisive.intruder, perf_counter() - begin)

    @contextmanager
    def _same_bits(self) -> Iterator[None]:
        """The last bits of losses, sums in BLAS, depend on its threads: one, whatever the number of workers."""
        if not self.with_losses:
            yield
            return
        from threadpoolctl import threadpool_limits

        with on_one_core(), threadpool_limits(1):
            yield


def outcome_over(
    requirement: Requirement,
    cells: Sequence[ComparedCell],
    *,
    hit_eps: float,
    nothing: Mapping[str, float],
    attribute: str = "",
) -> Outcome:
    """A requirement over the releases of one technique.

    ``nothing`` are the figures by their left side if nothing is released.
    """
    left = requirement.left
    return outcome(
        requirement,
        [cell.risks[left] for cell in cells],
        eps=eps_of(requirement, hit_eps),
        reason=next((cell.reasons[left] for cell in cells if left in cell.reasons), ""),
        attribute=attribute,
        nothing_released=nothing.get(left),
    )


def wanted_figures(asked: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """The figures of the columns and of these requirements, each once."""
    return tuple({each.left: each for each in (*asked, *ALWAYS)}.values())


def measured_tolerances(
    people: Microdata, given: Sequence[float] | None, asked: Sequence[Requirement]
) -> tuple[float, ...]:
    """The given tolerances (default: an assessment's), those of the requirements, and 0."""
    first = people.attribute.geometry.default_tolerances() if given is None else given
    return tuple(dict.fromkeys([*tolerances_with(asked, map(float, first)), 0.0]))


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
    failure: str = ""
    """Why it could not be measured, in a sentence; "" if it could."""
    warning: str = ""
    """Why it should not be released whatever its figures are, in a sentence; "" if nothing is known against it."""

    @property
    def random(self) -> bool:
        """True if two releases of it can differ."""
        return self.technique.random

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
        """True if it could be measured and meets every requirement."""
        return not self.failure and all(each.meets for each in self.outcomes)


def compared(
    technique: Technique,
    cells: Sequence[ComparedCell],
    *,
    asked: Sequence[Requirement],
    utility: str,
    hit_eps: float,
    nothing: Mapping[str, float],
) -> ComparedTechnique:
    """The figures of a technique over its cells; ``nothing`` are the requirements' figures if nothing is released."""
    failure = next((cell.failure for cell in cells if cell.failure), "")
    if failure:
        return failed(technique, failure, asked=asked, measures=MEASURES, figures=ALWAYS, hit_eps=hit_eps)

    def over_cells(requirement: Requirement) -> Outcome:
        return outcome_over(requirement, cells, hit_eps=hit_eps, nothing=nothing)

    def interval(requirement: Requirement) -> Interval:
        found = over_cells(requirement)
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
        tuple(map(over_cells, asked)),
        tuple(sorted({cell.intruder for cell in cells})),
        len(cells),
    )


def failed(
    technique: Technique,
    why: str,
    *,
    asked: Sequence[Requirement],
    measures: Iterable[str],
    figures: Iterable[Requirement],
    hit_eps: float,
) -> ComparedTechnique:
    """A technique that could not be measured: no figure, and no requirement is met."""
    reason = f"it could not be measured: {why.rstrip('.')}"
    return ComparedTechnique(
        technique,
        {each.figure: MISSING for each in figures},
        dict.fromkeys(measures, MISSING),
        MISSING,
        MISSING,
        tuple(outcome(each, [None], eps=eps_of(each, hit_eps), reason=reason) for each in asked),
        (),
        0,
        why,
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


# The risk–utility front: the techniques for which nothing else is at least as good in both and better in one.


def on_front(risk: Sequence[float], loss: Sequence[float]) -> list[bool]:
    """For each point, whether no other has at most its risk and its loss and less of one of them.

    Points with a missing figure (NaN) are not on the front and do not keep others off it.

    >>> on_front([3, 1, 2, 2], [0, 2, 1, 3])
    [True, True, True, False]
    """
    found = [False] * len(risk)
    places = [place for place, both in enumerate(zip(risk, loss, strict=True)) if not any(map(isnan, both))]
    best: tuple[float, float] | None = None  # the last on the front: risk and loss
    for place in sorted(places, key=lambda place: (loss[place], risk[place])):
        here = risk[place], loss[place]
        if best is None or here == best or risk[place] < best[0]:
            found[place] = True
            best = here
    return found


# Which of the compared can be told apart by what they lose, and which need more random releases before they
# can.
#
# A random technique's loss depends on the draw. One draw does not show by how much, so if no replicates were
# asked for, those that decide the choice are released `FRONT_RELEASES` times.

FRONT_RELEASES = 5
"""The releases of each random technique that decides the choice, if one of each was asked for."""
MOST_CONTENDERS = 4
"""So many techniques are released more often at most; beyond them only those that are now the first two."""


def to_draw_again(
    ranked: Sequence[ComparedTechnique], every: Sequence[ComparedTechnique]
) -> list[ComparedTechnique]:
    """The random techniques that need more releases; [] if the choice is settled.

    ``ranked`` are those that meet the requirements, the least loss first: the first two, and those whose loss lies
    within the first one's interval. If the first always loses nothing, nothing can lose less.
    """
    if len(ranked) < 2 or (not ranked[0].random and ranked[0].loss.mean == 0):
        return []
    first = ranked[0]
    spread = first.loss.high - first.loss.low
    close = [each for each in ranked[2:] if each.loss.mean <= first.loss.high + spread]
    drawn = sum(each.random and each.releases > 1 for each in every)
    wanting = [each for each in ranked[:2] if _wants(each)]
    room = max(MOST_CONTENDERS - drawn - len(wanting), 0)
    return wanting + [each for each in close if _wants(each)][:room]


def not_told_apart(first: ComparedTechnique, ranked: Sequence[ComparedTechnique]) -> list[ComparedTechnique]:
    """Those whose loss is no larger than the first one's as far as the draws show."""
    return [each for each in ranked if each is not first and overlap(first.loss, each.loss)]


def overlap(first: Interval, other: Interval) -> bool:
    """True if the 95 % intervals of two losses, the smaller one first, overlap; losses that never vary do not.

    >>> from equivoc.experiments.compared import Interval
    >>> overlap(Interval(2, 1, 3), Interval(4, 2.5, 5.5)), overlap(Interval(2, 2, 2), Interval(2, 2, 2))
    (True, False)
    """
    varies = first.low < first.high or other.low < other.high
    return varies and other.low <= first.high


def _wants(each: ComparedTechnique) -> bool:
    return each.random and each.releases == 1
