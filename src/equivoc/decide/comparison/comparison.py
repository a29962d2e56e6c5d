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
from equivoc.decide.comparison.compared import (
    ComparedTechnique,
    compared,
    rank,
    ranking_figure,
)
from equivoc.decide.comparison.front import on_front
from equivoc.decide.comparison.wording import LOSS_WORDS, binding, headline, reason
from equivoc.information_loss.overall import MEASURES
from equivoc.number_format import figure
from equivoc.study.fingerprint import Facts
from equivoc.techniques.technique import Technique

if TYPE_CHECKING:
    import altair
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison(Reported):
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

    @cached_property
    def front(self) -> list[bool]:
        """For each technique, whether nothing else is at least as good in risk and in loss, and better in one."""
        sign = 1.0 if self.risk.riskier == "more" else -1.0
        return on_front(
            [sign * each.risk.mean for each in self.compared], [each.loss.mean for each in self.compared]
        )

    @property
    def chosen(self) -> ComparedTechnique | None:
        """The chosen technique with its figures; None if none meets the requirements."""
        meeting = [each for each in self.compared if each.meets]
        return min(meeting, key=lambda each: rank(each, self.risk.riskier)) if meeting else None

    @property
    def choice(self) -> Technique | None:
        """The technique that meets every requirement with the least loss; None if none does.

        Equal losses: the one with less risk, then the first. A technique whose loss cannot be measured comes last.
        """
        chosen = self.chosen
        return None if chosen is None else chosen.technique

    @property
    def meets(self) -> bool:
        """True if a technique meets every requirement."""
        return self.choice is not None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A pandas frame with a row per technique, in the given order.

        technique, parameters, the figures of risk, the measures of loss, ``risk`` and ``loss`` (the two that rank),
        ``meets``, ``front``, ``choice`` and the intruder that was used. Over replicates: means, with ``*_low`` and
        ``*_high``, the 95 % interval of the mean (Student's). NaN: the figure does not apply.
        """
        import pandas as pd

        every = self.compared
        columns: dict[str, Any] = {
            "technique": pd.Series([each.name for each in every], dtype=object),
            "parameters": pd.Series([each.parameters for each in every], dtype=object),
        }
        intervals = {
            **{name: [each.risks[name] for each in every] for name in COLUMNS},
            **{name: [each.losses[name] for each in every] for name in MEASURES},
            "risk": [each.risk for each in every],
            "loss": [each.loss for each in every],
        }
        for name, found in intervals.items():
            columns[name] = pd.Series([each.mean for each in found], dtype="float64")
            if self.replicates > 1:
                columns[f"{name}_low"] = pd.Series([each.low for each in found], dtype="float64")
                columns[f"{name}_high"] = pd.Series([each.high for each in found], dtype="float64")
        columns["meets"] = pd.Series([each.meets for each in every], dtype=bool)
        columns["front"] = pd.Series(self.front, dtype=bool)
        columns["choice"] = pd.Series([each is self.chosen for each in every], dtype=bool)
        columns["intruder"] = pd.Series([" or ".join(each.intruders) for each in every], dtype=object)
        return pd.DataFrame(columns)

    @cached_property
    def why(self) -> pd.DataFrame:
        """A row per technique and requirement: technique, parameters, requirement, value, limit, meets.

        Also ``low`` and ``high``, the 95 % interval over replicates, at whose riskier end the value is judged, and
        ``missed_by``, how far it is from the limit.
        """
        import pandas as pd

        rows = [
            {
                "technique": each.name,
                "parameters": each.parameters,
                "requirement": found.text,
                "value": found.value,
                "limit": found.limit,
                "meets": found.meets,
                "low": found.low,
                "high": found.high,
                "missed_by": found.missed_by,
            }
            for each in self.compared
            for found in each.outcomes
        ]
        names = [
            "technique",
            "parameters",
            "requirement",
            "value",
            "limit",
            "meets",
            "low",
            "high",
            "missed_by",
        ]
        frame = pd.DataFrame(rows, columns=names)
        numbers = ["value", "limit", "low", "high", "missed_by"]
        return frame.astype(dict.fromkeys(numbers, "float64") | {"meets": bool})

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why each other technique was not chosen, by its notation."""
        chosen, risk = self.chosen, self.risk.left
        return {
            each.notation: reason(each, chosen, utility=self.utility, risk=risk, replicates=self.replicates)
            for each in self.compared
            if each is not chosen
        }

    @property
    def headline(self) -> str:
        """Which technique to take; if none, which requirement binds."""
        told = headline(self.compared, self.chosen, utility=self.utility, required=bool(self.requirements))
        return told if self.meets else f"{told} {binding(self.compared)}"

    def plot(self) -> altair.TopLevelMixin:
        """The risk–utility map: a point per technique, the front, and the limit of the first requirement.

        Towards the left less is lost; the axis of the risk says which direction is safe. Bars are 95 % intervals over
        replicates. ``.save("map.png")`` and ``.save("map.svg")`` work offline.
        """
        from equivoc.charts.risk_utility import MapPoint, risk_utility_chart

        chosen = self.chosen
        points = [
            MapPoint(
                number,
                each.notation,
                (each.risk.mean, each.risk.low, each.risk.high),
                (each.loss.mean, each.loss.low, each.loss.high),
                meets=each.meets,
                front=front,
                chosen=each is chosen,
            )
            for number, (each, front) in enumerate(zip(self.compared, self.front, strict=True), 1)
        ]
        risk = self.risk
        return risk_utility_chart(
            points,
            risk=risk.left,
            risk_unit=risk.kind.unit.replace("the attribute's unit", self.area_unit),
            riskier=risk.riskier,
            limit=risk.limit if self.requirements else None,
            limit_text=risk.text,
            loss=self.utility,
            loss_words=LOSS_WORDS[self.utility],
        )

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
