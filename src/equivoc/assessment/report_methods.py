"""The methods of results that write reports.

They belong to the results, but reports are made in a higher layer. So this is the only file that imports from a higher
layer (`equivoc.report`), and only inside its methods; the test of import directions has an exception for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class ReportedSeveral:
    """Methods of a result about several attributes: ``facts``, and a ``report`` of each attribute."""

    def facts(self, *, units: Mapping[str, str] | None = None, record_values: bool = False) -> dict[str, Any]:
        """The facts of the reports by attribute, and of all together: a plain dict, ready for JSON.

        ``units`` are those of the attributes, by name; ``record_values`` is that of an assessment's `facts`.
        """
        from equivoc.report.facts.several_facts import several_facts

        return several_facts(self, units=units, record_values=record_values)  # type: ignore[arg-type]

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        units: Mapping[str, str] | None = None,
        record_values: bool = False,
        date: str | None = None,
    ) -> list[Path]:
        """Write one page per attribute: ``report.html`` becomes ``report-salary.html``, and so on."""
        from equivoc.report.page import write_reports

        return write_reports(self, path, units=units, record_values=record_values, date=date)  # type: ignore[arg-type]


class Reported:
    """Methods of a result: ``facts``, ``report``, and its display in notebooks."""

    def facts(self, *, unit: str = "", record_values: bool = False, budget: bool = False) -> dict[str, Any]:
        """The facts of the report as a plain dict, ready for JSON.

        ``unit`` is the confidential attribute's, such as "K". Classes of fewer than 3 people have their key values
        withheld unless ``record_values`` is true. ``budget`` adds the figures of differential privacy for each ε (see
        `equivoc.budget`); for a differentially private release they are always included.
        """
        from equivoc.report.page import facts_of

        return facts_of(self, unit=unit, record_values=record_values, budget=budget)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        unit: str = "",
        record_values: bool = False,
        title: str | None = None,
        date: str | None = None,
        budget: bool = False,
    ) -> Path:
        """Write one self-contained HTML page, completely or not at all.

        ``unit``, ``record_values`` and ``budget`` are those of `facts`. ``date`` is printed as given; without it the
        same result gives the same bytes.
        """
        from equivoc.report.page import write_report

        return write_report(
            self, path, unit=unit, record_values=record_values, title=title, date=date, budget=budget
        )

    def _repr_html_(self) -> str:
        from equivoc.report.notebook import notebook_summary

        return notebook_summary(self)
