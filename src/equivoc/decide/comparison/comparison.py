"""The result of a comparison: a table, the choice, and the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.assessment.report_methods import Reported
from equivoc.assessment.requirements.figures import eps_of
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.decide.comparison.cell import COLUMNS, ComparedCell
from equivoc.decide.comparison.compared import ComparedTechnique, compared, ranking_figure
from equivoc.decide.comparison.ranked import Ranked
from equivoc.decide.comparison.wording import LOSS_WORDS
from equivoc.information_loss.overall import MEASURES
from equivoc.number_format import figure
from equivoc.study.fingerprint import Facts
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

    made_of: Facts = field(repr=False)
    """The comparison's description: data, techniques, known keys, replicates, seed, prior, intruder, version."""
    techniques: tuple[Technique, ...]
    requirements: tuple[Requirement, ...]
    utility: str
    """The measure of loss that ranks the techniques."""
    cells: Sequence[ComparedCell] = field(repr=False)
    folder: Path | None = None
    """The folder of the store; None if results were kept in memory."""

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
    def replicates(self) -> int:
        """The releases of each random technique."""
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
        """
        chosen = self.chosen
        return None if chosen is None else chosen.technique

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A pandas frame with a row per technique, in the given order.

        technique, parameters, the figures of risk, the measures of loss, ``risk`` and ``loss`` (the two that rank),
        ``meets``, ``front``, ``choice`` and the intruder that was used. Over replicates: means, with ``*_low`` and
        ``*_high``, the 95 % interval of the mean (Student's). NaN: the figure does not apply.
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
            f"{data['records']:,} records; {self.headline}>"
        )

    def _repr_html_(self) -> str:
        """The choice, the chart and the table as self-contained HTML."""
        import vl_convert

        drawing = vl_convert.vegalite_to_svg(self.plot().to_json())
        table = self.frame.to_html(index=False, float_format=figure, escape=True, border=0)
        return (
            f"<p>{escape(self.headline)}</p>{drawing}<details><summary>all figures</summary>{table}</details>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
