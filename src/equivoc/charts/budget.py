"""Bits and hit rate against the privacy budget ε, side by side, on a logarithmic axis."""

from __future__ import annotations

from typing import Any

import altair as alt

from equivoc.charts.curve import COLOURS
from equivoc.charts.drawing import drawable
from equivoc.number_format import amount

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
