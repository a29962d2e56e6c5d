"""The result of a comparison: a table, the choice, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from equivoc.data.fingerprint import Facts
from equivoc.data.remarks import counted_records
from equivoc.experiments.compared import COLUMNS, ComparedCell, ComparedTechnique, compared, ranking_figure
from equivoc.experiments.ranked import LOSS_WORDS, Ranked
from equivoc.information_loss.utility import MEASURES
from equivoc.requirements.outcome import eps_of
from equivoc.requirements.requirement import Requirement
from equivoc.results.result import Reported
from equivoc.techniques.technique import Technique

if TYPE_CHECKING:
    import altair
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison(Ranked, Reported):
    """Several techniques measured for the same people, intruder and prior.

    Entropies, surprise and gain are in bits, areas in bits × the confidential attribute's unit, hits are shares of
    people. Less entropy, area, surprise and k is riskier; more gain, hits and certain_right is. Every measure of loss
    is 0 for the unprotected file, and more is worse.
    """

    kind: ClassVar[str] = "comparison"

    made_of: Facts = field(repr=False)
    """The comparison's description: data, techniques, known keys, replicates, seed, prior, intruder, version."""
    techniques: tuple[Technique, ...]
    requirements: tuple[Requirement, ...]
    utility: str
    """The measure of loss that ranks the techniques."""
    cells: Sequence[ComparedCell] = field(repr=False)
    folder: Path | None = None
    """The folder of the store; None if results were kept in memory."""
    nothing: Mapping[str, float] = field(default_factory=dict, repr=False)
    """The figures of the requirements if nothing is released, by their left side."""
    remarks: tuple[str, ...] = ()
    """What to know about releases that were finished before, one sentence each."""

    @property
    def seed(self) -> int:
        """The seed of the first release of each technique; its replicates have the following seeds."""
        return int(self.made_of["seed"])

    @property
    def known(self) -> tuple[str, ...]:
        """The keys that the intruder knows."""
        return tuple(self.made_of["known"])

    @property
    def intruder(self) -> str:
        """The requested intruder, the same for all techniques."""
        return str(self.made_of["intruder"])

    @property
    def prior(self) -> str:
        """What is publicly known without the release: marginal or uniform."""
        return str(self.made_of["prior"])

    @property
    def participation(self) -> str | float:
        """Whether the intruder knows that her target took part: "known", "unknown", or the chance."""
        found: str | float = self.made_of.get("participation", "known")
        return found

    @property
    def replicates(self) -> int:
        """The releases of each random technique that were asked for; if 1, those that decide the choice have 5."""
        return int(self.made_of["replicates"])

    @property
    def hit_eps(self) -> float:
        """The tolerance ε of the columns hit and true_hit, in the confidential attribute's unit."""
        return float(self.made_of["hit_eps"])

    @property
    def area_unit(self) -> str:
        """The unit of areas, which are in bits × this."""
        data = self.made_of["data"]
        of_kind = {"ordered": "ranks", "categories": "levels", "tree": "levels"}
        return of_kind.get(data["kind"], f"unit of {data['confidential']}")

    @cached_property
    def compared(self) -> tuple[ComparedTechnique, ...]:
        """Every technique with its figures and outcomes, in the given order."""
        of: dict[str, list[ComparedCell]] = {technique.notation: [] for technique in self.techniques}
        for cell in sorted(self.cells, key=lambda cell: cell.key.replicate):
            of[cell.key.technique].append(cell)
        return tuple(
            compared(
                technique,
                of[technique.notation],
                asked=self.requirements,
                utility=self.utility,
                hit_eps=self.hit_eps,
                nothing=self.nothing,
            )
            for technique in self.techniques
        )

    @property
    def risk(self) -> Requirement:
        """The figure that ranks techniques by risk: that of the first requirement, or the gain without requirements."""
        found = ranking_figure(self.requirements)
        return found.at(eps_of(found, self.hit_eps))

    @property
    def choice(self) -> Technique | None:
        """The technique that meets every requirement with the least loss; None if none does.

        Equal losses: the one with less risk, then the first. A technique whose loss cannot be measured comes last.
        `headline` says if the draws cannot tell it apart from others.
        """
        chosen = self.chosen
        return None if chosen is None else chosen.technique

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A pandas frame with a row per technique, in the given order.

        technique, parameters, the figures of risk, the measures of loss, ``risk`` and ``loss`` (the two that rank),
        ``meets``, ``front``, ``choice``, ``tied`` (the draws cannot tell it apart from the choice), ``releases``,
        ``failed`` (why it could not be measured, or "") and the intruder that was used. Over several releases: means,
        with ``*_low`` and ``*_high``, the 95 % interval of the mean (Student's). NaN: the figure does not apply.
        """
        import pandas as pd

        intruders = [" or ".join(each.intruders) for each in self.compared]
        return self.figures_frame(COLUMNS, MEASURES).assign(intruder=pd.Series(intruders, dtype=object))

    def plot(self) -> altair.TopLevelMixin:
        """The risk–utility map: a point per technique, the front, and the limit of the first requirement.

        Towards the left less is lost; the axis of the risk says which direction is safe. Bars are 95 % intervals over
        replicates. ``.save("map.png")`` and ``.save("map.svg")`` work offline.
        """
        return self.risk_utility_map(area_unit=self.area_unit, loss_words=LOSS_WORDS[self.utility])

    def __repr__(self) -> str:
        data = self.made_of["data"]
        return (
            f"<Comparison: {len(self.techniques)} techniques × {self.replicates} replicates; "
            f"{counted_records(data)}; {self.headline}>"
        )
