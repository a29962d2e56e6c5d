"""Bits and hit rate against the privacy budget ε, side by side, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import altair as alt
import numpy as np
from numpy.typing import NDArray

from equivoc.charts.drawing import drawable
from equivoc.text import amount

# The chart of H(ε): one description for notebook, PNG, SVG and page.

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
"""Okabe and Ito's palette, which colour-blind readers can distinguish."""
MOST_POINTS = 2000


class Steps(Protocol):
    """A curve that falls in steps: what `equivoc.curve` returns."""

    @property
    def epsilons(self) -> NDArray[np.float64]: ...
    @property
    def entropies(self) -> NDArray[np.float64]: ...
    @property
    def eps_max(self) -> float: ...
    @property
    def exact(self) -> bool: ...


def curve_chart(curves: Mapping[str, Steps], *, unit: str = "the values' unit") -> alt.Chart:
    """Step lines of H(ε), one per named curve; a single curve is drawn without its name."""
    reach = max(c.eps_max for c in curves.values()) or 1.0
    rows: list[dict[str, float | str]] = []
    for name, c in curves.items():
        eps, h = c.epsilons, c.entropies
        if len(eps) > MOST_POINTS:
            keep = np.unique(np.linspace(0, len(eps) - 1, MOST_POINTS).astype(int))
            eps, h = eps[keep], h[keep]
        if not c.exact:  # shift the lower bounds so that the line is never above H
            h = np.append(h[1:], 0.0)
        points = [*zip(eps.tolist(), h.tolist(), strict=True), (reach * 1.04, 0.0)]
        rows += [{"curve": drawable(name), "eps": e, "bits": b} for e, b in points]
    bits = "H(ε), bits" if all(c.exact for c in curves.values()) else "H(ε), at least, bits"
    lines: alt.Chart = (
        alt.Chart({"values": rows})
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("eps:Q", title=f"tolerance ε ({drawable(unit)})", scale=alt.Scale(nice=False)),
            y=alt.Y("bits:Q", title=f"remaining entropy {bits} (higher is safer)"),
            tooltip=[
                alt.Tooltip("eps:Q", title="ε", format=".4g"),
                alt.Tooltip("bits:Q", title=bits, format=".3f"),
            ],
        )
        .properties(width=460, height=280)
    )
    if len(curves) == 1:
        only: alt.Chart = lines.configure_line(color=COLOURS[0])
        return only
    colour = alt.Color(
        "curve:N",
        title=None,
        sort=list(map(drawable, curves)),
        scale=alt.Scale(range=COLOURS),
        legend=alt.Legend(orient="top"),
    )
    several: alt.Chart = lines.encode(
        color=colour, strokeDash=alt.StrokeDash("curve:N", sort=list(map(drawable, curves)), legend=None)
    )
    return several


def notebook_display(chart: alt.Chart) -> Any:
    """The chart for a notebook, without network access: Vega-Lite for front ends that render it, and a static image
    for all others.

    Altair's default renderer loads its scripts from the network and shows nothing offline; a renderer chosen by the
    caller is used unchanged.
    """
    if alt.renderers.active not in ("default", "html"):
        return chart._repr_mimebundle_()
    bundle: dict[str, Any] = {}
    for renderer in ("svg", "mimetype"):
        with alt.renderers.enable(renderer):
            shown = chart._repr_mimebundle_()
        bundle.update((shown[0] if isinstance(shown, tuple) else shown) or {})
    return bundle


RELEASE, TRUE, WORST = "geometric noise", "geometric noise, true-hit rate", "worst case that ε allows"
PRIOR, UNPROTECTED = "without the release", "published unchanged"
COLOUR = {
    RELEASE: COLOURS[0],
    TRUE: COLOURS[5],
    WORST: COLOURS[3],
    PRIOR: COLOURS[2],
    UNPROTECTED: COLOURS[1],
}
DASH = {RELEASE: [1, 0], TRUE: [1, 0], WORST: [4, 2], PRIOR: [2, 3], UNPROTECTED: [8, 4]}
HERE = "this release"


def budget_chart(facts: dict[str, Any], *, unit: str = "", width: int = 335) -> alt.HConcatChart:
    """The chart of a `Budget`'s facts; with ``facts["here"]``, a release of that ε is marked."""
    close = f"within ±{amount(facts['eps'] / 2, drawable(unit))}" if facts["eps"] else "exact"
    bits = _panel(facts, "h0", "H0, bits (higher is safer)", {RELEASE: "h0", WORST: "h0_least"}, width)
    hits = _panel(
        facts,
        "hit",
        f"hit rate, {close} (lower is safer)",
        {RELEASE: "hit", TRUE: "true_hit", WORST: "hit_most"},
        width,
    )
    chart: alt.HConcatChart = alt.hconcat(bits, hits, spacing=28)
    return chart


def _panel(facts: dict[str, Any], figure: str, title: str, lines: dict[str, str], width: int) -> Any:
    table = facts["rows"]
    rows = [
        {"line": line, "epsilon": row["epsilon"], "figure": row[column]}
        for line, column in lines.items()
        for row in table
    ]
    levels = [
        {"line": PRIOR, "figure": facts["prior"][figure]},
        {"line": UNPROTECTED, "figure": facts["unprotected"][figure]},
    ]
    x = alt.X(
        "epsilon:Q",
        title="privacy budget ε (left is safer)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~g", tickCount=5, labelFlush=False, grid=False),
    )
    y = alt.Y("figure:Q", title=title, scale=alt.Scale(zero=True))
    colour = alt.Color(
        "line:N",
        title=None,
        scale=alt.Scale(domain=list(COLOUR), range=list(COLOUR.values())),
        legend=alt.Legend(orient="top", symbolType="stroke", symbolStrokeWidth=3, columns=3, labelLimit=260),
    )
    dash = alt.StrokeDash("line:N", title=None, scale=alt.Scale(domain=list(DASH), range=list(DASH.values())))
    number = alt.Tooltip("figure:Q", title=title.split(" (")[0], format=".3f")
    drawn = (
        alt.Chart({"values": rows})
        .mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=dash,
            tooltip=[
                alt.Tooltip("line:N", title=" "),
                alt.Tooltip("epsilon:Q", title="ε", format=".3~g"),
                number,
            ],
        )
    )
    rules = (
        alt.Chart({"values": levels})
        .mark_rule(strokeWidth=2)
        .encode(y=y, color=colour, strokeDash=dash, tooltip=[alt.Tooltip("line:N", title=" "), number])
    )
    layers = [rules, drawn]
    if facts.get("here"):
        here = facts["here"]
        point = [{"epsilon": here["epsilon"], "figure": here[figure], "line": HERE}]
        marked = alt.Chart({"values": point}).encode(
            x=x, y=y, tooltip=[alt.Tooltip("line:N", title=" "), number]
        )
        layers += [
            marked.mark_point(size=110, filled=True, opacity=1, color=COLOURS[4]),
            marked.mark_text(align="left", dx=9, dy=-9).encode(text="line:N"),
        ]
    return alt.layer(*layers).properties(width=width, height=240)


# The contributions of keys as bars.


def contribution_chart(bits: dict[str, float]) -> alt.Chart:
    """The contributions as bars, the largest on top."""
    rows = [{"key": drawable(key), "bits": value} for key, value in bits.items()]
    chart: alt.Chart = (
        alt.Chart({"values": rows})
        .mark_bar(color="#0072B2")
        .encode(
            x=alt.X(
                "bits:Q",
                title="reduction of the intruder's uncertainty, bits (more is riskier)",
            ),
            y=alt.Y("key:N", title=None, sort="-x"),
            tooltip=["key:N", alt.Tooltip("bits:Q", format=".3f")],
        )
        .properties(width=460)
    )
    return chart
