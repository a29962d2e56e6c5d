"""The methods of results that write reports.

They belong to the results, but reports are made in `equivoc.render`, which knows all results. So this file knows what
renders a result by name only, and imports it when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

RENDERERS = {
    "facts_of": "equivoc.render.page",
    "notebook_summary": "equivoc.render.notebook",
    "several_facts": "equivoc.render.several",
    "write_report": "equivoc.render.page",
    "write_reports": "equivoc.render.page",
}
"""What renders results, and the module that has it."""


def renderer(name: str) -> Callable[..., Any]:
    """The function of this name, imported now."""
    found: Callable[..., Any] = getattr(import_module(RENDERERS[name]), name)
    return found


class ReportedSeveral:
    """Methods of a result about several attributes: ``facts``, and a ``report`` of each attribute."""

    def facts(self, *, units: Mapping[str, str] | None = None, record_values: bool = False) -> dict[str, Any]:
        """The facts of the reports by attribute, and of all together: a plain dict, ready for JSON.

        ``units`` are those of the attributes, by name; ``record_values`` is that of an assessment's `facts`.
        """
        facts: dict[str, Any] = renderer("several_facts")(self, units=units, record_values=record_values)
        return facts

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        units: Mapping[str, str] | None = None,
        record_values: bool = False,
        date: str | None = None,
    ) -> list[Path]:
        """Write one page per attribute: ``report.html`` becomes ``report-salary.html``, and so on."""
        write = renderer("write_reports")
        written: list[Path] = write(self, path, units=units, record_values=record_values, date=date)
        return written


class Reported:
    """Methods of a result: ``facts``, ``report``, and its display in notebooks."""

    def facts(self, *, unit: str = "", record_values: bool = False, budget: bool = False) -> dict[str, Any]:
        """The facts of the report as a plain dict, ready for JSON.

        ``unit`` is the confidential attribute's, such as "K". Classes of fewer than 3 people have their key values
        withheld unless ``record_values`` is true. ``budget`` adds the figures of differential privacy for each ε (see
        `equivoc.budget`); for a differentially private release they are always included.
        """
        facts_of = renderer("facts_of")
        facts: dict[str, Any] = facts_of(self, unit=unit, record_values=record_values, budget=budget)
        return facts

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
        write = renderer("write_report")
        written: Path = write(
            self, path, unit=unit, record_values=record_values, title=title, date=date, budget=budget
        )
        return written

    def _repr_html_(self) -> str:
        summary: str = renderer("notebook_summary")(self)
        return summary
