"""An assessment over the same cells of the original table for every method, so that methods can be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.of_table import TableAssessment
from equivoc.assessment.requirements.requirement import Requirement
from equivoc.tables.cell_table import CellTable
from equivoc.tables.redesign import RedesignedTable
from equivoc.tables.release import TableRelease

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OriginalCells(TableRelease):
    """What a redesigned table says about the cells of the original one."""

    given: tuple[Floats, Floats] = field(repr=False)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest value of each original cell."""
        return self.given


@dataclass(frozen=True, eq=False)
class SameCells(TableAssessment):
    """An assessment over chosen cells of the original table. ``k`` is that of the release itself."""

    chosen: NDArray[np.int64] = field(kw_only=True, repr=False)
    itself: TableAssessment = field(kw_only=True, repr=False)

    @property
    def cells(self) -> NDArray[np.int64]:
        """The chosen cells."""
        return self.chosen

    def _value(self, requirement: Requirement) -> float | None:
        return self.itself._value(requirement) if requirement.figure == "k" else super()._value(requirement)


def on_same_cells(
    table: CellTable,
    release: TableRelease,
    chosen: NDArray[np.int64],
    *,
    eps: tuple[float, ...],
    wanted: tuple[Requirement, ...],
) -> SameCells:
    """Assess a release over these cells of the original table."""
    itself = TableAssessment(table, release, eps, wanted)
    seen: Any = release
    if isinstance(release, RedesignedTable):
        low, high = release.original_bounds()
        seen = OriginalCells(table, np.where(low == high, low, np.nan), given=(low, high))
    return SameCells(table, seen, eps, wanted, chosen=chosen, itself=itself)
