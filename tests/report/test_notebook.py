"""Display in notebooks: escaped tables, and charts that need no network."""

from __future__ import annotations

import altair as alt

import equivoc as eq
from tests.report.conftest import FORMULA, HOSTILE
from tests.report.markup import Markup


def test_an_assessment_is_a_small_table(result: eq.Assessment) -> None:
    told = result._repr_html_()
    assert len(told) < 4000
    assert f"{result.summary['per_record']['h0']['mean']:.4g}" in Markup(told).text
    assert "sampling:fraction=0.5" in Markup(told).text


def test_hostile_names_stay_text(hostile: eq.Assessment) -> None:
    seen = Markup(hostile._repr_html_())
    assert {tag for tag, _ in seen.elements} <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert seen.handlers == []
    assert HOSTILE in seen.text
    assert FORMULA in seen.text


def test_a_curve_is_a_chart_that_needs_no_network() -> None:
    shown = eq.curve([77, 80], [0.5, 0.5])._repr_mimebundle_()
    described = [value for kind, value in shown.items() if kind.startswith("application/vnd.vegalite.")]
    assert len(described) == 1
    assert described[0]["mark"]["type"] == "line"
    assert shown["image/svg+xml"].startswith("<svg")
    assert "text/html" not in shown


def test_a_renderer_that_the_caller_has_chosen_is_used() -> None:
    curve = eq.curve([77, 80], [0.5, 0.5])
    with alt.renderers.enable("svg"):
        assert set(curve._repr_mimebundle_()) == {"image/svg+xml"}
    with alt.renderers.enable("mimetype"):
        shown = curve._repr_mimebundle_()
    bundle = shown[0] if isinstance(shown, tuple) else shown
    assert any(kind.startswith("application/vnd.vegalite.") for kind in bundle)
