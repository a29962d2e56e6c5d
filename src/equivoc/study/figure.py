"""The paper's figure: H0 and A against the number of known keys, a line per parameter, a panel per technique."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from equivoc.errors import InputError
from equivoc.measure.chart import COLOURS

if TYPE_CHECKING:
    import pandas as pd

BAND = 1.96
"""Standard errors on both sides of the mean: a 95 % band, if replicates are roughly normal."""
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
WIDTH, HEIGHT = 260, 200


def study_chart(summary: pd.DataFrame, *, confidential: str, per: str = "class") -> alt.VConcatChart:
    """The figure from a study's summary; ``per`` "class" or "record" chooses the averages."""
    if per not in ("class", "record"):
        raise InputError(f"per is {per!r}; choose class or record.")
    suffix = "" if per == "class" else "_record"
    counted = "each class counts once" if per == "class" else "a random person"
    measures = {f"h0{suffix}": "H0, bits", f"area{suffix}": f"area A, bits × unit of {confidential}"}
    techniques = list(dict.fromkeys(summary["technique"]))
    rows = [
        alt.hconcat(
            *(
                _panel(summary[summary["technique"] == technique], technique, measure, title, summary, first=i == 0)
                for i, technique in enumerate(techniques)
            ),
            spacing=24,
        ).resolve_scale(color="independent", shape="independent", y="shared")
        for measure, title in measures.items()
    ]
    chart: alt.VConcatChart = (
        alt.vconcat(*rows, spacing=18)
        .properties(
            title=alt.Title(
                "What is left to find out (higher is safer)",
                subtitle=f"Mean over releases, {counted}; bands: 95 % (±{BAND} standard errors)",
                anchor="start",
                subtitleColor="#555",
            )
        )
        .configure_view(stroke="#ccc")
        .configure_axis(gridColor="#eee", titleFontWeight="normal")
    )
    return chart


def _panel(
    lines: pd.DataFrame, technique: str, measure: str, title: str, summary: pd.DataFrame, *, first: bool
) -> alt.LayerChart:
    error = lines[f"{measure}_se"].fillna(0.0)
    data = lines[["parameters", "known_size", measure]].assign(
        low=(lines[measure] - BAND * error).clip(lower=0.0), high=lines[measure] + BAND * error
    )
    data = data.rename(columns={measure: "mean"}).to_dict("records")
    order = list(dict.fromkeys(lines["parameters"]))
    top = float((summary[measure] + BAND * summary[f"{measure}_se"].fillna(0.0)).max()) or 1.0
    known = sorted(set(summary["known_size"]))
    x = alt.X(
        "known_size:Q",
        title="number of known keys",
        axis=alt.Axis(values=known, format="d"),
        scale=alt.Scale(domain=[known[0], known[-1]], nice=False, padding=8),
    )
    y_title = title if first else None
    y = alt.Y("mean:Q", title=y_title, scale=alt.Scale(domain=[0, top], nice=True))
    base = alt.Chart({"values": data})
    colour = alt.Color(
        "parameters:N", title=None, sort=order, scale=alt.Scale(domain=order, range=COLOURS), legend=_legend()
    )
    shape = alt.Shape(
        "parameters:N", title=None, sort=order, scale=alt.Scale(domain=order, range=SHAPES), legend=_legend()
    )
    band = base.mark_area(opacity=0.18).encode(
        x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q", color=colour
    )
    line = base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour)
    points = base.mark_point(size=36, filled=True, opacity=1).encode(
        x=x,
        y=y,
        color=colour,
        shape=shape,
        tooltip=[
            alt.Tooltip("parameters:N", title=technique),
            alt.Tooltip("known_size:Q", title="known keys"),
            alt.Tooltip("mean:Q", title=title, format=".4g"),
            alt.Tooltip("low:Q", title="95 % from", format=".4g"),
            alt.Tooltip("high:Q", title="to", format=".4g"),
        ],
    )
    panel: alt.LayerChart = alt.layer(band, line, points).properties(
        width=WIDTH, height=HEIGHT, title=alt.Title(technique, fontSize=12)
    )
    return panel


def _legend() -> alt.Legend:
    return alt.Legend(orient="bottom", columns=3, symbolOpacity=1, labelLimit=200)
