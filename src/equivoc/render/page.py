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

from equivoc.charts.drawing import check_drawing
from equivoc.files import check_outputs, one_each, replacing
from equivoc.results.result import facts_of, renderer
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


def write_report(
    result: Any,
    path: str | os.PathLike[str],
    *,
    study: Any = None,
    **words: Any,
) -> Path:
    """Write the report of a result (of an assessment, with a ``study`` beside it, if given).

    The file is written completely or not at all; the same result gives the same bytes unless a ``date`` is given.
    """
    if isinstance(path, (str, os.PathLike)):
        check_outputs([Path(path)], inputs=getattr(result, "inputs", []))
    facts = facts_of(result, **words)
    own = renderer(result.kind)
    sections, charts = {own.section: facts}, own.charts(facts, result)
    if study is not None:
        beside = renderer("study")
        sections["study"] = beside.facts(study, unit=words.get("unit", ""))
        charts |= beside.charts(sections["study"], study)
    return write_page(_page(facts, charts, **sections), path)


def write_reports(
    result: SeveralAssessments,
    path: str | os.PathLike[str],
    facts: dict[str, Any] | None = None,
    **options: Any,
) -> list[Path]:
    """Write one page per attribute, named after ``path``; ``facts`` are computed unless given."""
    all_facts = renderer(result.kind).facts(result, **options) if facts is None else facts
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


def render(facts: dict[str, Any], result: Any = None) -> str:
    """The page of these facts; ``result`` is needed where its chart is not made from facts."""
    own = renderer(facts["kind"])
    return _page(facts, own.charts(facts, result), **{own.section: facts})


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
