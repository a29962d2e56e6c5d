"""The result of comparing methods that protect a table: a frame, the choice, and the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from equivoc.assessment.requirements.requirement import Requirement
from equivoc.decide.comparison.compared import ComparedTechnique
from equivoc.decide.comparison.ranked import Ranked
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
class TableComparison(Ranked):
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

    @property
    def choice(self) -> Any:
        """The method that meets every requirement with the least loss (then the least risk); None if none does."""
        at = next((at for at, each in enumerate(self.compared) if each is self.chosen), None)
        return None if at is None else self.methods[at]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per method: technique, parameters, the figures of risk, the measures of loss, meets, front, choice.

        Over replicates: means, with ``*_low`` and ``*_high`` (Student's 95 % interval). NaN: it does not apply.
        """
        return self.figures_frame(COLUMNS, TABLE_MEASURES)

    def plot(self) -> altair.TopLevelMixin:
        """The risk–utility map: a point per method, the front, and the limit of the first requirement."""
        of = "people" if self.table.value is None else f"unit of {self.table.value}"
        return self.risk_utility_map(area_unit=of, loss_words=LOSS_WORDS[self.utility])

    def __repr__(self) -> str:
        return f"<TableComparison: {len(self.methods)} methods; {self.cells}; {self.headline}>"

    def _repr_html_(self) -> str:
        """The choice and the table as HTML."""
        table = self.frame.to_html(index=False, float_format=figure, escape=True, border=0)
        return f"<p>{escape(self.headline)} Figures are over {escape(self.cells)}.</p>{table}"
