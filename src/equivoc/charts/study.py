"""The paper's figures: H0 and A against the number of known keys, a line per parameter, a panel per technique."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from equivoc.charts.curves import COLOURS
from equivoc.charts.drawing import drawable
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

BAND = 1.96
"""Standard errors on both sides of the mean: a 95 % band, if replicates are roughly normal."""
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
WIDTH, HEIGHT = 260, 190
TECHNIQUES_PER_ROW = 3
LEGEND_LETTERS = 48
"""The most characters of a horizontal legend; longer legends are vertical."""


def study_chart(summary: pd.DataFrame, *, area_unit: str, per: str = "class") -> alt.ConcatChart:
    """The figure from a study's summary; ``per`` "class" or "record" chooses the averages."""
    if per not in ("class", "record"):
        raise InputError(f"per is {per!r}; choose class or record.")
    suffix, counted = ("", "averaged over classes") if per == "class" else ("_record", "averaged over people")
    titles = {
        f"h0{suffix}": ["H0, bits", "(higher is safer)"],
        f"area{suffix}": [f"area A, bits × {drawable(area_unit)}", "(higher is safer)"],
    }
    summary = summary.assign(
        technique=summary["technique"].map(drawable), parameters=summary["parameters"].map(drawable)
    )
    techniques = list(dict.fromkeys(summary["technique"]))
    columns = [
        alt.vconcat(
            *(_panel(summary, technique, measure, titles) for measure in titles), spacing=14
        ).properties(title=alt.Title(technique, fontSize=13, anchor="middle"))
        for technique in techniques
    ]
    chart: alt.ConcatChart = (
        alt.concat(*columns, columns=TECHNIQUES_PER_ROW, spacing=26)
        .resolve_scale(color="independent", shape="independent")
        .properties(
            title=alt.Title(
                "The intruder's remaining uncertainty",
                subtitle=f"Mean over releases, {counted}; bands: 95 % (±{BAND} standard errors)",
                anchor="start",
                subtitleColor="#555",
                offset=12,
            )
        )
        .configure_view(stroke="#ccc")
        .configure_axis(gridColor="#eee", titleFontWeight="normal")
    )
    return chart


def _panel(
    summary: pd.DataFrame, technique: str, measure: str, titles: dict[str, list[str]]
) -> alt.LayerChart:
    lines = summary[summary["technique"] == technique]
    lines = lines.assign(parameters=lines["parameters"].where(lines["parameters"] != "", technique))
    order = list(dict.fromkeys(lines["parameters"]))
    known = sorted(set(summary["known_size"]))
    x = alt.X(
        "known_size:Q",
        title="number of keys the intruder knows" if measure == list(titles)[-1] else None,
        axis=alt.Axis(values=known, format="d"),
        scale=alt.Scale(domain=[known[0] - 0.15, known[-1] + 0.15], nice=False),
    )
    # All techniques share the scale, so that panels can be compared.
    top = float((summary[measure] + BAND * summary[f"{measure}_se"].fillna(0.0)).max()) or 1.0
    y = alt.Y(
        "mean:Q",
        title=titles[measure],
        axis=alt.Axis(minExtent=30),
        scale=alt.Scale(domain=[0, top], nice=True),
    )
    beside = max(1, min(3, LEGEND_LETTERS // max(1, *map(len, order))))
    legend = alt.Legend(orient="bottom", columns=beside, symbolOpacity=1, labelLimit=250)
    colours, shapes = (alt.Scale(domain=order, range=marks) for marks in (COLOURS, SHAPES))
    colour = alt.Color("parameters:N", title=None, sort=order, scale=colours, legend=legend)
    shape = alt.Shape("parameters:N", title=None, sort=order, scale=shapes, legend=legend)
    base = alt.Chart({"values": _points(lines, measure)}).encode(x=x, color=colour)
    tooltip = [
        alt.Tooltip("parameters:N", title=technique),
        alt.Tooltip("known_size:Q", title="known keys"),
        alt.Tooltip("mean:Q", title=titles[measure][0], format=".4g"),
        alt.Tooltip("low:Q", title="95 % from", format=".4g"),
        alt.Tooltip("high:Q", title="to", format=".4g"),
    ]
    panel: alt.LayerChart = alt.LayerChart(
        layer=[
            base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", title=titles[measure]), y2="high:Q"),
            base.mark_line(strokeWidth=1.8).encode(y=y),
            base.mark_point(size=36, filled=True, opacity=1).encode(y=y, shape=shape, tooltip=tooltip),
        ]
    ).properties(width=WIDTH, height=HEIGHT)
    return panel


def _points(lines: pd.DataFrame, measure: str) -> list[dict[str, object]]:
    """Mean and band at every number of known keys, for each line."""
    reach = BAND * lines[f"{measure}_se"].fillna(0.0)
    return [
        {
            "parameters": parameters,
            "known_size": int(known),
            "mean": mean,
            "low": max(mean - by, 0.0),
            "high": mean + by,
        }
        for parameters, known, mean, by in zip(
            lines["parameters"], lines["known_size"], lines[measure].tolist(), reach.tolist(), strict=True
        )
    ]


def noise_chart(summary: pd.DataFrame, *, confidential: str) -> alt.ConcatChart:
    """Noise addition: H0 and A against the number of known keys, and against the amount of noise."""
    noise = summary[summary["technique"] == "noise-addition"]
    noise = noise.assign(percent=[float(p.split("=")[1].split(",")[0]) for p in noise["parameters"]])
    titles = {
        "h0": ["H0, bits", "(higher is safer)"],
        "area": [f"area A, bits × unit of {drawable(confidential)}", "(higher is safer)"],
    }
    axes = {
        "known_size": ("number of keys the intruder knows", "percent", "noise, %"),
        "percent": ("noise, % of the domain", "known_size", "known keys"),
    }

    def panel(measure: str, along: str) -> Any:
        title, lines, legend = axes[along]
        rows = [
            {
                "x": x,
                "line": f"{line:g}",
                "mean": mean,
                "low": max(mean - 1.96 * se, 0),
                "high": mean + 1.96 * se,
            }
            for x, line, mean, se in zip(
                noise[along].tolist(),
                noise[lines].tolist(),
                noise[measure].tolist(),
                noise[f"{measure}_se"].fillna(0).tolist(),
                strict=True,
            )
        ]
        order = [f"{line:g}" for line in sorted(set(noise[lines]))]
        colour = alt.Color(
            "line:N",
            title=legend,
            sort=order,
            scale=alt.Scale(domain=order, range=COLOURS),
            legend=alt.Legend(symbolOpacity=1),
        )
        base = alt.Chart({"values": rows}).encode(x=alt.X("x:Q", title=title), color=colour)
        return alt.layer(
            base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", title=titles[measure]), y2="high:Q"),
            base.mark_line(point=True).encode(y=alt.Y("mean:Q", title=titles[measure])),
        ).properties(width=300, height=200)

    rows = [
        alt.hconcat(panel("h0", along), panel("area", along)).resolve_scale(color="shared") for along in axes
    ]
    chart: alt.ConcatChart = alt.vconcat(*rows).resolve_scale(color="independent")
    return chart
