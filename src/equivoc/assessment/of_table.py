"""The assessment of a released table: what an intruder can infer about each cell and its largest contributor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.attribute import round_tolerance
from equivoc.errors import InputError
from equivoc.measure.distribution import tolerances
from equivoc.requirements.outcome import Outcome, outcome, over_people, overruled, spread, tolerances_with
from equivoc.requirements.requirement import Requirement, requirements
from equivoc.results.result import Reported
from equivoc.tables.cell_posteriors import ContributorIntervals, Figures
from equivoc.tables.cell_table import CellTable
from equivoc.tables.release import TableRelease, cell_frame
from equivoc.text import exact

Floats = NDArray[np.float64]
CERTAIN = 1e-9
"""Bits: a cell with less uncertainty than this counts as disclosed."""
APPLICABLE = ("h0", "area", "hit", "certain_right", "k")
"""The figures that requirements on a table can name."""


@dataclass(frozen=True, eq=False)
class TableAssessment(Reported):
    """The disclosure risk of a released table.

    For a table of totals the figures of a cell are about its largest contributor, as seen by the second largest, who
    knows her own contribution (a cell's only contributor is seen by the others); for a table of counts about the cell's
    count. Entropies are in bits, areas in bits × the attribute's unit. Less is riskier; a higher hit rate is riskier.
    """

    kind: ClassVar[str] = "table"

    table: CellTable = field(repr=False)
    """The original table."""
    release: TableRelease = field(repr=False)
    eps: tuple[float, ...]
    """The tolerances of the hit rates, in the attribute's unit."""
    require: tuple[Requirement, ...] = ()

    @property
    def inputs(self) -> list[Any]:
        """The file of the people of the table."""
        return [] if self.table.source is None else [self.table.source.source]

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The assessed cells: those withheld, or every cell with contributors if none is withheld."""
        shown = self.release.cells
        chosen = self.release.withheld if self.release.withheld.any() else np.ones(len(shown), dtype=bool)
        return np.flatnonzero(chosen & (shown.people != 0))

    @property
    def hit_eps(self) -> float:
        """The tolerance of hit rates where one figure is shown: the first above 0, else 0."""
        return next((e for e in self.eps if e > 0), self.eps[0])

    @property
    def subject(self) -> str:
        """Whose value the figures are about, in words."""
        if self.release.cells.value is None:
            return "the count of a cell"
        return f"the largest contribution of {self.release.cells.value} to a cell"

    def figures(self, eps: float) -> Figures:
        """The measure of every cell's posterior, with the hit rate at ``eps``."""
        if self.release.cells.value is None:
            return self.release.figures(eps=eps)
        return self._contributors.figures(eps=eps)

    @cached_property
    def _contributors(self) -> ContributorIntervals:
        return self.release.contributors(insider=self.release.cells.top.shape[1] > 1)

    @cached_property
    def _measured(self) -> Figures:
        return self.figures(self.hit_eps)

    @cached_property
    def frame(self) -> Any:
        """One row per assessed cell: its categories (null: the margin), contributors, the cell's bounds (low, high),
        h0, area, eps_max and a hit rate for each tolerance above 0.
        """
        cells, found = self.cells, self._measured
        low, high = self.release.bounds
        columns: dict[str, Any] = {
            "people": self.release.cells.people[cells],
            "low": low[cells],
            "high": high[cells],
            "h0": found.h0[cells],
            "area": found.area[cells],
            "eps_max": found.eps_max[cells],
            **{f"hit_{exact(e)}": self.figures(e).hit[cells] for e in self.eps if e > 0},
        }
        return cell_frame(self.release.cells, cells, columns)

    @property
    def disclosed(self) -> int:
        """How many assessed cells have a value that is certain (H0 = 0)."""
        return int(np.count_nonzero(self._measured.h0[self.cells] < CERTAIN))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Averages, minima and quantiles over the assessed cells."""
        cells, found = self.cells, self._measured
        measured = cells[np.isfinite(found.h0[cells])]
        facts: dict[str, Any] = {
            "cells": len(self.release.cells),
            "assessed": len(cells),
            "withheld": int(self.release.withheld.sum()),
            "disclosed": self.disclosed,
            "about": self.subject,
        }
        if len(measured):
            facts["h0"] = spread(found.h0[measured], None)
            facts["area"] = spread(found.area[measured], None)
            facts["hit"] = {e: spread(self.figures(e).hit[measured], None) for e in self.eps}
        if self.require:
            facts["requirements"] = [each.facts for each in self.requirements]
        return facts

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the figures needs to know, one sentence each."""
        own = () if self.release.cells.value is None else (self._contributors.note,)
        return (*self.table.remarks, *self.release.notes, *own)

    @cached_property
    def requirements(self) -> tuple[Outcome, ...]:
        """The outcome of each requirement over the assessed cells, each of which counts once."""
        return tuple(
            overruled(
                outcome(each, [self._value(each)], eps=self._tolerance(each), reason=_does_not_apply(each)),
                self.release.exposed,
            )
            for each in self.require
        )

    @property
    def meets(self) -> bool:
        """True if every requirement is met and nobody can compute an unsafe cell of a suppressed table exactly; also
        without requirements."""
        return not self.release.exposed and all(each.meets for each in self.requirements)

    def _tolerance(self, requirement: Requirement) -> float | None:
        if requirement.figure != "hit":
            return None
        return self.hit_eps if requirement.eps is None else requirement.eps

    def _value(self, requirement: Requirement) -> float | None:
        """The figure of a requirement; with nothing withheld or measured, the safest value that it can have."""
        cells = self.cells
        match requirement.figure:
            case "certain_right":
                return float(self.disclosed)
            case "k":
                published = ~self.release.withheld & (self.release.cells.people > 0)
                return float(self.release.cells.people[published].min()) if published.any() else np.inf
            case "h0" | "area" | "hit" as name:
                found = self._measured if name != "hit" else self.figures(self._tolerance(requirement) or 0.0)
                per_cell = getattr(found, name)[cells]
                per_cell = per_cell[~np.isnan(per_cell)]
                if not len(per_cell):
                    return 0.0 if name == "hit" else np.inf
                return over_people(per_cell, np.ones(len(per_cell), dtype=np.int64), requirement)
        return None


def assess_table(
    table: CellTable, release: Any, *, eps: Any = None, require: Iterable[str | Requirement] | None = None
) -> TableAssessment:
    """What a release of ``table`` gives away about its cells; see `equivoc.assess`."""
    if not isinstance(release, TableRelease):
        raise InputError(
            f"release is {release!r}; give a released table, such as eq.CellSuppression(rule=…).release(table)."
        )
    required = requirements(require)
    asked = tolerances("eps", _default_tolerances(table) if eps is None else eps).tolist()
    return TableAssessment(table, release, tolerances_with(required, asked), required)


def _default_tolerances(table: CellTable) -> tuple[float, ...]:
    if table.value is None:
        return (0.0, 1.0)
    if table.source is not None and table.value in table.source.attributes:
        found: tuple[float, ...] = table.source.attributes[table.value].geometry.default_tolerances()
        return found
    return (0.0, round_tolerance(float(np.nanmax(np.abs(table.values), initial=0.0))))


def _does_not_apply(requirement: Requirement) -> str:
    if requirement.figure in APPLICABLE:
        return ""
    return f"{requirement.figure} does not apply to a table of cells; use {', '.join(APPLICABLE)}"
