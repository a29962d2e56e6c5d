"""The page: facts and charts in one self-contained HTML file.

Its policy (Content-Security-Policy) names the two scripts by their hashes and allows nothing from outside, so nothing
in a table can run or be sent anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import vl_convert
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from equivoc.assessment.assessment import Assessment
from equivoc.assessment.of_table import TableAssessment
from equivoc.auditing.result import Audit
from equivoc.charts.assessment import assessment_figures, audit_figures, interval_chart
from equivoc.charts.drawing import check_drawing
from equivoc.errors import InputError
from equivoc.experiments.comparison import Comparison
from equivoc.files import check_outputs, one_each, replacing
from equivoc.render.assessment import assessment_facts
from equivoc.render.audit import audit_facts
from equivoc.render.comparison import StudyResult, comparison_facts, study_facts
from equivoc.render.several import several_facts
from equivoc.render.table_release import table_release_facts
from equivoc.text import amount, bits, figure, percent, probability

if TYPE_CHECKING:
    from equivoc.assessment.several import SeveralAssessments

CHART_CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500, "titlePadding": 8},
    "legend": {"labelFontSize": 12.5, "symbolSize": 260, "labelLimit": 260},
}

LONGEST_LABEL = 80
"""Longer category labels are cut in the cells of a table."""


def facts_of(
    result: Any,
    *,
    unit: str = "",
    record_values: bool = False,
    title: str | None = None,
    date: str | None = None,
    budget: bool = False,
) -> dict[str, Any]:
    """The facts of an assessment, a study, a comparison, an audit or a released table, ready for JSON."""
    if isinstance(result, Assessment):
        return assessment_facts(
            result, unit=unit, record_values=record_values, title=title, date=date, budget=budget
        )
    if budget:
        raise InputError("only an assessment has a section on the privacy budget.")
    if isinstance(result, Comparison):
        return comparison_facts(result, unit=unit, title=title, date=date)
    if isinstance(result, Audit):
        return audit_facts(result, unit=unit, record_values=record_values, title=title, date=date)
    if isinstance(result, TableAssessment):
        return table_release_facts(result, unit=unit, record_values=record_values, title=title, date=date)
    return study_facts(result, unit=unit, title=title, date=date)


def write_report(
    result: Any,
    path: str | os.PathLike[str],
    *,
    study: StudyResult | None = None,
    unit: str = "",
    record_values: bool = False,
    title: str | None = None,
    date: str | None = None,
    budget: bool = False,
) -> Path:
    """Write the report of an assessment (with a ``study`` beside it, if given) or of another result of `facts_of`.

    The file is written completely or not at all; the same result gives the same bytes unless a ``date`` is given.
    """
    if isinstance(result, (Assessment, Audit)) and isinstance(path, (str, os.PathLike)):
        groups = (result.people, None if isinstance(result, Audit) else result.control)
        check_outputs([Path(path)], inputs=[group.source for group in groups if group is not None])
    if isinstance(result, TableAssessment) and isinstance(path, (str, os.PathLike)):
        source = None if result.table.source is None else result.table.source.source
        check_outputs([Path(path)], inputs=[source])
    facts = facts_of(result, unit=unit, record_values=record_values, title=title, date=date, budget=budget)
    if facts["kind"] == "assessment":
        compared = None if study is None else study_facts(study, unit=unit)
        page = render(facts, compared, None if study is None else study.plot())
    elif facts["kind"] == "comparison":
        page = render_comparison(facts, result.plot())
    elif facts["kind"] == "audit":
        page = render_audit(facts)
    elif facts["kind"] == "table":
        page = render_table(facts)
    else:
        page = render(None, facts, result.plot())
    return write_page(page, path)


def write_reports(
    result: SeveralAssessments,
    path: str | os.PathLike[str],
    facts: dict[str, Any] | None = None,
    **options: Any,
) -> list[Path]:
    """Write one page per attribute, named after ``path``; ``facts`` are computed unless given."""
    all_facts = several_facts(result, **options) if facts is None else facts
    paths = one_each(Path(path), result.attributes)
    check_outputs(list(paths.values()), inputs=[] if result.people.source is None else [result.people.source])
    pages = {file: render(all_facts["attributes"][name]) for name, file in paths.items()}
    return [write_page(page, file) for file, page in pages.items()]


def write_page(page: str, path: str | os.PathLike[str], *, private: bool = False) -> Path:
    """Write the page completely or not at all; InputError if that fails. ``private``: only its owner can read it."""
    path = Path(path)
    with replacing(path, private=private) as temporary:
        temporary.write_bytes(page.encode("utf-8", "replace"))
    return path


def render(
    assessment: dict[str, Any] | None,
    study: dict[str, Any] | None = None,
    study_chart: alt.TopLevelMixin | None = None,
) -> str:
    """The page of these facts; ``study_chart`` is the study's own chart."""
    charts = {} if assessment is None else assessment_figures(assessment)
    if study_chart is not None:
        charts["study"] = study_chart
    return _page(assessment or study, charts, assessment=assessment, study=study)


def render_comparison(comparison: dict[str, Any], chart: alt.TopLevelMixin) -> str:
    """The page of a comparison and its map."""
    return _page(comparison, {"map": chart}, comparison=comparison)


def render_audit(audit: dict[str, Any]) -> str:
    """The page of an audit."""
    return _page(audit, audit_figures(audit), audit=audit)


def render_table(table: dict[str, Any]) -> str:
    """The page of a released table."""
    chart = interval_chart(table)
    return _page(table, {} if chart is None else {"intervals": chart}, table=table)


def _page(facts: Any, charts: dict[str, alt.TopLevelMixin], **sections: Any) -> str:
    """The page with these sections; those that are not given are left out."""
    check_drawing()
    scripts = {"bundle": chart_bundle(), "start": _text("page.js")}
    template = _environment().get_template("page.html.jinja")
    page: str = template.render(
        facts=facts,
        **dict.fromkeys(("assessment", "audit", "comparison", "study", "table")) | sections,
        charts={name: chart_spec(chart) for name, chart in charts.items()},
        style=Markup(_text("page.css")),
        scripts={name: Markup(script) for name, script in scripts.items()},
        policy=_policy(list(scripts.values())),
    )
    return page


def _policy(scripts: list[str]) -> str:
    """The policy: no external content, and only these scripts."""
    named = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src {named}; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "amount": amount,
        "bits": bits,
        "figure": _figure,
        "json": _inert_json,
        "percent": _percent,
        "picture": _picture,
        "probability": probability,
        "short": _short,
        "thousands": "{:,}".format,
    }
    return environment


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{percent(share)}"


def _figure(value: Any) -> str:
    """A table's entry: a formatted number, anything else unchanged."""
    return "–" if value is None else figure(value) if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    """A label that fits a table's cell."""
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def _inert_json(fact: Any) -> Markup:
    """JSON that is safe inside a script element."""
    text = json.dumps(fact, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def chart_spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart as Vega-Lite, in the style of our pages."""
    with alt.data_transformers.enable("default", max_rows=None):
        spec: dict[str, Any] = chart.to_dict()
    spec["config"] = {**spec.get("config", {}), **CHART_CONFIG}
    return spec


def _picture(spec: dict[str, Any]) -> str:
    """The chart as a static image, for readers without scripts."""
    svg = vl_convert.vegalite_to_svg({**spec, "background": "white"}, vl_version=_vega_lite())
    # vl_convert numbers clip paths across the whole process; renumber them so that the same facts give the same bytes.
    numbers: dict[str, str] = {}
    svg = re.sub(
        r'(?<=id="clip)\d+(?=")|(?<=url\(#clip)\d+(?=\))',
        lambda found: numbers.setdefault(found[0], str(len(numbers))),
        svg,
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


@cache
def chart_bundle() -> str:
    """The scripts that draw the charts: Vega, Vega-Lite and vega-embed."""
    make: Any = vl_convert.javascript_bundle  # its type stub requires an argument that is optional
    bundle: str = make(vl_version=_vega_lite())
    # Browsers normalise line ends before they hash a script for the policy.
    return bundle.replace("\r\n", "\n").replace("\r", "\n")


def _vega_lite() -> str:
    """The major and minor version of Vega-Lite that Altair writes: v6.4 for v6.4.1."""
    return ".".join(alt.SCHEMA_VERSION.split(".")[:2])


def _text(name: str) -> str:
    return files("equivoc.render").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
