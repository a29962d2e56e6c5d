"""The result of comparing methods that protect a table: a frame, the choice, and the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from equivoc.assessment.requirements.requirement import Requirement
from equivoc.decide.comparison.compared import ComparedTechnique, rank
from equivoc.decide.comparison.front import on_front
from equivoc.decide.comparison.wording import binding, headline, reason
from equivoc.information_loss.table_losses import TABLE_MEASURES
from equivoc.number_format import figure
from equivoc.tables.cell_table import CellTable

if TYPE_CHECKING:
    import altair
    import pandas as pd

COLUMNS = ("h0", "area", "hit", "certain_right", "k")
"""The figures of risk that every comparison of tables shows."""
LOSS_WORDS = {
    "cell_error": "relative error of a user's inner cells",
    "cells_suppressed": "share of cells withheld",
    "total_suppressed": "share of the total withheld",
    "rounding_distance": "mean distance of rounded cells, in bases",
    "cells_lost": "share of inner cells merged",
}


@dataclass(frozen=True, eq=False)
class TableComparison:
    """Several methods measured for the same table, cells and intruder.

    H0 is in bits, areas are in bits × the attribute's unit, hits are shares; less H0, area and k is riskier, more hits
    and certain_right are. Every measure of loss is 0 for a table that is published as it is, and more is worse.
    """

    table: CellTable = field(repr=False)
    methods: tuple[Any, ...]
    requirements: tuple[Requirement, ...]
    utility: str
    """The measure of loss that ranks the methods."""
    compared: tuple[ComparedTechnique, ...] = field(repr=False)
    """Every method with its figures and outcomes, in the given order."""
    risk: Requirement
    """The figure that ranks methods by risk: that of the first requirement, or the hit rate without requirements."""
    hit_eps: float
    replicates: int
    seed: int
    cells: str
    """Which cells the figures are over, in words."""

    @cached_property
    def front(self) -> list[bool]:
        """For each method, whether nothing else is at least as good in risk and in loss, and better in one."""
        sign = 1.0 if self.risk.riskier == "more" else -1.0
        return on_front(
            [sign * each.risk.mean for each in self.compared], [each.loss.mean for each in self.compared]
        )

    @property
    def chosen(self) -> ComparedTechnique | None:
        """The chosen method with its figures; None if none meets the requirements."""
        meeting = [each for each in self.compared if each.meets]
        return min(meeting, key=lambda each: rank(each, self.risk.riskier)) if meeting else None

    @property
    def choice(self) -> Any:
        """The method that meets every requirement with the least loss (then the least risk); None if none does."""
        at = next((at for at, each in enumerate(self.compared) if each is self.chosen), None)
        return None if at is None else self.methods[at]

    @property
    def meets(self) -> bool:
        """True if a method meets every requirement."""
        return self.chosen is not None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per method: technique, parameters, the figures of risk, the measures of loss, meets, front, choice.

        Over replicates: means, with ``*_low`` and ``*_high`` (Student's 95 % interval). NaN: it does not apply.
        """
        import pandas as pd

        every = self.compared
        columns: dict[str, Any] = {
            "technique": pd.Series([each.name for each in every], dtype=object),
            "parameters": pd.Series([each.parameters for each in every], dtype=object),
        }
        intervals = {
            **{name: [each.risks[name] for each in every] for name in COLUMNS},
            **{name: [each.losses[name] for each in every] for name in TABLE_MEASURES},
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
        return pd.DataFrame(columns)

    @cached_property
    def why(self) -> pd.DataFrame:
        """A row per method and requirement: technique, parameters, requirement, value, limit, meets, missed_by."""
        import pandas as pd

        names = ("technique", "parameters", "requirement", "value", "limit", "meets", "missed_by")
        rows = [
            (each.name, each.parameters, found.text, found.value, found.limit, found.meets, found.missed_by)
            for each in self.compared
            for found in each.outcomes
        ]
        numbers = dict.fromkeys(("value", "limit", "missed_by"), "float64")
        return pd.DataFrame(rows, columns=list(names)).astype(numbers | {"meets": bool})

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why each other method was not chosen, by its notation."""
        chosen, risk = self.chosen, self.risk.left
        return {
            each.notation: reason(each, chosen, utility=self.utility, risk=risk, replicates=self.replicates)
            for each in self.compared
            if each is not chosen
        }

    @property
    def headline(self) -> str:
        """Which method to take; if none, which requirement binds."""
        told = headline(self.compared, self.chosen, utility=self.utility, required=bool(self.requirements))
        return told if self.meets else f"{told} {binding(self.compared)}"

    def plot(self) -> altair.TopLevelMixin:
        """The risk–utility map: a point per method, the front, and the limit of the first requirement."""
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
        of = "people" if self.table.value is None else f"unit of {self.table.value}"
        return risk_utility_chart(
            points,
            risk=self.risk.left,
            risk_unit=self.risk.kind.unit.replace("the attribute's unit", of),
            riskier=self.risk.riskier,
            limit=self.risk.limit if self.requirements else None,
            limit_text=self.risk.text,
            loss=self.utility,
            loss_words=LOSS_WORDS[self.utility],
        )

    def __repr__(self) -> str:
        return f"<TableComparison: {len(self.methods)} methods; {self.cells}; {self.headline}>"

    def _repr_html_(self) -> str:
        """The choice and the table as HTML."""
        table = self.frame.to_html(index=False, float_format=figure, escape=True, border=0)
        return f"<p>{escape(self.headline)} Figures are over {escape(self.cells)}.</p>{table}"
