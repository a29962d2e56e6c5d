"""The unit of a comparison: one release of one technique, its risk and what it loses. A pure function of its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from equivoc.assessment.assess import assess
from equivoc.assessment.assessment import Assessment
from equivoc.assessment.requirements.figures import figure_value, why_not
from equivoc.assessment.requirements.judging import tolerances_with
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.information_loss.overall import overall
from equivoc.information_loss.utility import losses
from equivoc.measure.parallel import on_one_core
from equivoc.study.cell import CellKey
from equivoc.techniques.technique import Technique

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


@dataclass(frozen=True, eq=False)
class ComparedSetting:
    """What all cells of a comparison share."""

    people: Microdata
    techniques: Mapping[str, Technique]
    """By notation."""
    known: tuple[str, ...]
    seed: int
    prior: str
    intruder: str
    eps: tuple[float, ...]
    """The tolerances that are measured; the first above 0 is that of ``hit`` and ``true_hit``."""
    wanted: tuple[Requirement, ...]
    """The figures of risk, without repetitions."""

    def measure(self, key: CellKey) -> ComparedCell:
        """Make one release, assess it, and measure what it loses."""
        from threadpoolctl import threadpool_limits

        begin = perf_counter()
        # The last bits of sums in BLAS depend on its threads: one, whatever the number of workers.
        with on_one_core(), threadpool_limits(1):
            try:
                result: Assessment = assess(
                    self.people,
                    self.techniques[key.technique],
                    known=self.known,
                    seed=self.seed + key.replicate,
                    eps=self.eps,
                    prior=self.prior,
                    intruder=self.intruder,
                )
                risks = {each.left: figure_value(result, each) for each in self.wanted}
                reasons = {
                    each.left: why_not(result, each) for each in self.wanted if risks[each.left] is None
                }
                # The same seed for all techniques and replicates: they answer the same random queries.
                lost = overall(losses(self.people, result.release, seed=self.seed))
            except InputError as mistake:
                raise InputError(f"{key.technique}, replicate {key.replicate}: {mistake}") from None
            except MemoryError:
                raise InputError(
                    f"{key.technique}, replicate {key.replicate}: there is too little memory for "
                    f"{len(self.people.values):,} values of {self.people.confidential!r}; round them to fewer values."
                ) from None
        return ComparedCell(key, risks, lost, reasons, result.intruder, perf_counter() - begin)


def wanted_figures(asked: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """The figures of the columns and of these requirements, each once."""
    return tuple({each.left: each for each in (*asked, *ALWAYS)}.values())


def measured_tolerances(
    people: Microdata, given: Sequence[float] | None, asked: Sequence[Requirement]
) -> tuple[float, ...]:
    """The given tolerances (default: an assessment's), those of the requirements, and 0."""
    first = people.attribute.geometry.default_tolerances() if given is None else given
    return tuple(dict.fromkeys([*tolerances_with(asked, map(float, first)), 0.0]))
