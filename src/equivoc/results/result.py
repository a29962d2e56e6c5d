"""The methods of results that show them: facts, reports, and the display in notebooks.

They belong to the results, but are made in `equivoc.render`, one renderer for each kind of result. So this file knows
renderers by name only, and imports one when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from equivoc.errors import InputError

RENDERERS = {
    "assessment": "equivoc.render.assessment_lines",
    "assessments": "equivoc.render.several",
    "audit": "equivoc.render.audit",
    "comparison": "equivoc.render.comparison",
    "study": "equivoc.render.study",
    "table": "equivoc.render.table_release",
    "table comparison": "equivoc.render.table_lines",
}
"""For each kind of result, the module whose ``RENDERER`` draws it."""
PAGE = "equivoc.render.page"
"""The module that writes pages."""


class Renderer(NamedTuple):
    """What draws one kind of result, always from its facts."""

    facts: Callable[..., dict[str, Any]]
    """Plain data, ready for JSON, of a result; ``words`` are its keyword arguments."""
    words: frozenset[str] = frozenset()
    notebook: Callable[[Any], str] | None = None
    """A small piece of HTML."""
    lines: Callable[..., Iterable[Any]] | None = None
    """The blocks (`equivoc.render.blocks`) that a terminal prints."""
    section: str = ""
    """The name of the section of the page; "": there is no page of its own."""
    charts: Callable[[dict[str, Any], Any], dict[str, Any]] = lambda facts, result: {}
    """The charts of the page, by name."""


def register(kind: str, module: str) -> None:
    """Have results of this ``kind`` drawn by the ``RENDERER`` of a module."""
    RENDERERS[kind] = module


def renderer(kind: str) -> Renderer:
    """What draws results of this kind, imported now."""
    found: Renderer = import_module(RENDERERS[kind]).RENDERER
    return found


def facts_of(result: Any, *, budget: bool = False, **words: Any) -> dict[str, Any]:
    """The facts of a result with a report, ready for JSON; words that its kind has no use for are left out."""
    own = renderer(result.kind)
    if budget and "budget" not in own.words:
        raise InputError("only an assessment has a section on the privacy budget.")
    words["budget"] = budget
    return own.facts(result, **{name: word for name, word in words.items() if name in own.words})


class Shown:
    """What notebooks call."""

    kind: ClassVar[str]
    """The kind of the result: a name of `RENDERERS`."""

    def _repr_html_(self) -> str:
        draw = renderer(self.kind).notebook
        assert draw is not None
        return draw(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


class ReportedSeveral:
    """Methods of a result about several attributes: ``facts``, and a ``report`` of each attribute."""

    kind: ClassVar[str] = "assessments"

    def facts(self, *, units: Mapping[str, str] | None = None, record_values: bool = False) -> dict[str, Any]:
        """The facts of the reports by attribute, and of all together: a plain dict, ready for JSON.

        ``units`` are those of the attributes, by name; ``record_values`` is that of an assessment's `facts`.
        """
        return renderer(self.kind).facts(self, units=units, record_values=record_values)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        units: Mapping[str, str] | None = None,
        record_values: bool = False,
        date: str | None = None,
    ) -> list[Path]:
        """Write one page per attribute: ``report.html`` becomes ``report-salary.html``, and so on."""
        write = import_module(PAGE).write_reports
        written: list[Path] = write(self, path, units=units, record_values=record_values, date=date)
        return written


class Reported(Shown):
    """Methods of a result: ``facts``, ``report``, and its display in notebooks."""

    @property
    def inputs(self) -> list[Any]:
        """The files from which it was made; no report may overwrite them."""
        return []

    def facts(self, *, unit: str = "", record_values: bool = False, budget: bool = False) -> dict[str, Any]:
        """The facts of the report as a plain dict, ready for JSON.

        ``unit`` is the confidential attribute's, such as "K". Classes of fewer than 3 people have their key values
        withheld unless ``record_values`` is true. ``budget`` adds the figures of differential privacy for each ε (see
        `equivoc.budget`); for a differentially private release they are always included.
        """
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
        write = import_module(PAGE).write_report
        written: Path = write(
            self, path, unit=unit, record_values=record_values, title=title, date=date, budget=budget
        )
        return written
