"""The way out: what a result offers to the eye and to others.

A person holds a result and asks it for its report, so the methods must be here; how a report is made is none of this
layer's business. This file is the only one that looks up, to `equivoc.report`, and only when it is asked; the test of
import directions names it and no other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class ReportedSeveral:
    """A result about several attributes with ``facts``, and a ``report`` of each."""

    def facts(self, *, units: Mapping[str, str] | None = None, record_values: bool = False) -> dict[str, Any]:
        """What the reports say, by attribute, and what holds for all together: a plain dict that is ready for JSON.

        ``units`` are those of the attributes, by name; ``record_values`` is that of an assessment's `facts`.
        """
        from equivoc.report.several_facts import several_facts

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
    """A result with ``facts``, a ``report``, and a picture of itself in notebooks."""

    def facts(self, *, unit: str = "", record_values: bool = False, budget: bool = False) -> dict[str, Any]:
        """What the report says, as a plain dict that is ready for JSON.

        ``unit`` is the confidential attribute's, such as "K". Classes of fewer than 3 people have their key values
        withheld unless ``record_values`` is true. ``budget`` adds what differential privacy would buy for each ε (see
        `equivoc.budget`); where the release is differentially private, it is there anyway.
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
        """Write one self-contained HTML page, to be read offline; it is there whole or not at all.

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
