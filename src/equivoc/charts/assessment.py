"""The charts of the report (Altair), made only from its facts."""

from __future__ import annotations

from typing import Any

import altair as alt

from equivoc.charts.curves import COLOURS, budget_chart
from equivoc.charts.drawing import drawable

RELEASE, UNPROTECTED, PRIOR = "this release", "published unchanged", "without the release"
SURPRISE = "this release, T: surprise at the true values"
LINES = (RELEASE, PRIOR, UNPROTECTED)
LINE_COLOURS = {RELEASE: COLOURS[0], PRIOR: COLOURS[2], UNPROTECTED: COLOURS[1], SURPRISE: COLOURS[3]}
LINE_DASHES = {RELEASE: [1, 0], PRIOR: [2, 3], UNPROTECTED: [8, 4], SURPRISE: [5, 2, 1, 2]}
WIDTH = 748
HALF = 335
Chart = Any  # altair.Chart, LayerChart or HConcatChart
LONGEST = 40
"""Characters of a name in a chart's title."""


def assessment_figures(facts: dict[str, Any]) -> dict[str, Chart]:
    """The charts of an assessment by name; empty charts are left out."""
    charts = {"people": people_figure(facts)}
    if facts["curve"]["levels"]:
        charts["curve"] = level_figure(facts)
    elif facts["data"]["confidential"]["kind"] != "categories":  # plain categories have only H0
        charts["curve"] = curve_figure(facts)
    if len(facts["knowledge"]["sizes"]) > 1:
        charts["knowledge"] = knowledge_figure(facts)
    if facts["contributions"]:
        charts["contributions"] = contribution_figure(facts)
    if facts["budget"]:
        charts["budget"] = budget_chart(facts["budget"], unit=_unit(facts), width=HALF)
    return charts


def audit_figures(facts: dict[str, Any]) -> dict[str, Chart]:
    """The charts of an audit by name."""
    return {"people": people_figure(facts), "curve": curve_figure(facts)}


def curve_figure(facts: dict[str, Any]) -> Chart:
    """H(ε) of the average person, beside the prior's and the unprotected file's, and T(ε)."""
    curve = facts["curve"]
    rows = [
        {"line": line, "eps": eps, "bits": bits}
        for line, values in zip(LINES, (curve["release"], curve["prior"], curve["unprotected"]), strict=True)
        for eps, bits in zip(curve["eps"], values, strict=True)
    ]
    few = alt.Axis(tickCount=10, labelFlush=False)
    encoded = {
        "x": alt.X("eps:Q", title=f"tolerance ε ({_unit(facts)})", axis=few, scale=alt.Scale(nice=False)),
        "y": alt.Y("bits:Q", title="H(ε), bits (higher is safer)"),
        "color": _line_colour(SURPRISE),
        "strokeDash": _line_dash(SURPRISE),
        "tooltip": [
            alt.Tooltip("line:N", title="intruder with"),
            alt.Tooltip("eps:Q", title="ε", format=",.4~g"),
            alt.Tooltip("bits:Q", title="bits", format=".3f"),
        ],
    }
    believed = (
        alt.Chart({"values": rows}).mark_line(interpolate="step-after", strokeWidth=2.5).encode(**encoded)
    )
    chart = alt.Chart({"values": _surprises(curve, "eps", curve["truth"]["eps"])})
    # At fewer tolerances than H, points only: lines between them would cut the corners of the steps.
    every = curve["truth"]["every_tolerance"]
    drawn = (
        chart.mark_line(interpolate="step-after", strokeWidth=2) if every else chart.mark_point(filled=True)
    )
    true = drawn.encode(**encoded)
    return alt.layer(believed, true).properties(width=WIDTH, height=300)


def level_figure(facts: dict[str, Any]) -> Chart:
    """H of the average person at each level of the hierarchy: one step per level."""
    curve = facts["curve"]
    names = _distinct([drawable(name) for name in curve["levels"]])
    rows = [
        {"line": line, "level": name, "bits": bits}
        for line, values in zip(LINES, (curve["release"], curve["prior"], curve["unprotected"]), strict=True)
        for name, bits in zip(names, values, strict=True)
    ]
    shown = [names[curve["eps"].index(eps)] for eps in curve["truth"]["eps"]]
    rows += _surprises(curve, "level", shown)
    axis = alt.Axis(labelAngle=0, labelLimit=WIDTH // len(names), grid=True)
    return (
        alt.Chart({"values": rows})
        .mark_line(interpolate="step-after", strokeWidth=2.5, point=alt.OverlayMarkDef(size=45))
        .encode(
            x=alt.X("level:O", title="level of the hierarchy (right is coarser)", sort=names, axis=axis),
            y=alt.Y("bits:Q", title="H, bits (higher is safer)"),
            color=_line_colour(SURPRISE),
            strokeDash=_line_dash(SURPRISE),
            tooltip=[
                alt.Tooltip("line:N", title="intruder with"),
                alt.Tooltip("level:O", title="level"),
                alt.Tooltip("bits:Q", title="bits", format=".3f"),
            ],
        )
        .properties(width=WIDTH, height=300)
    )


def knowledge_figure(facts: dict[str, Any]) -> Chart:
    """H0 and area against the number of known keys."""
    area_unit = f"bits × {_unit(facts)}"
    return alt.hconcat(
        _knowledge_panel(facts, "h0", "mean H0, bits (higher is safer)"),
        _knowledge_panel(facts, "area", f"mean area, {area_unit} (higher is safer)"),
        spacing=28,
    )


def people_figure(facts: dict[str, Any]) -> Chart:
    """Histograms over people of H0 and of the hit rate."""
    people = facts["people"]
    return alt.hconcat(
        _histogram(people["h0"], "H0, bits (left is riskier)", COLOURS[0]),
        _histogram(
            people["hit"],
            f"hit rate, {drawable(people['hit_close'])} (right is riskier)",
            COLOURS[1],
        ),
        spacing=28,
    )


def contribution_figure(facts: dict[str, Any]) -> Chart:
    """By how many bits each known key reduces the intruder's uncertainty."""
    return (
        alt.Chart({"values": [each | {"key": drawable(each["key"])} for each in facts["contributions"]]})
        .mark_bar(color=COLOURS[0], cornerRadiusEnd=2)
        .encode(
            x=alt.X(
                "bits:Q",
                title="reduction of the intruder's uncertainty, bits (more is riskier)",
                axis=alt.Axis(tickCount=8, format="~g", labelFlush=False),
            ),
            y=alt.Y("key:N", title=None, sort="-x", axis=alt.Axis(labelLimit=220)),
            tooltip=[
                alt.Tooltip("key:N", title="key"),
                alt.Tooltip("bits:Q", format=".3f"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(width=WIDTH - 120, height=alt.Step(26))
    )


def _knowledge_panel(facts: dict[str, Any], figure: str, title: str) -> Chart:
    sizes = facts["knowledge"]["sizes"]
    prior = next(f["prior"] for f in facts["figures"] if f["name"] == figure)
    rows = []
    for at in sizes:
        rows += [
            {"line": RELEASE, "size": at["size"], "mean": at[figure]},
            {"line": PRIOR, "size": at["size"], "mean": prior},
            {"line": UNPROTECTED, "size": at["size"], "mean": at[f"{figure}_unprotected"]},
        ]
    spread = [{"size": at["size"], "low": at[f"{figure}_low"], "high": at[f"{figure}_high"]} for at in sizes]
    x = alt.X("size:Q", title="number of keys known", axis=_whole_numbers(sizes))
    band = (
        alt.Chart({"values": spread})
        .mark_area(opacity=0.2, color=COLOURS[0])
        .encode(x=x, y=alt.Y("low:Q", title=title), y2="high:Q")
    )
    lines = (
        alt.Chart({"values": rows})
        .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2.5)
        .encode(
            x=x,
            y=alt.Y("mean:Q", title=title, axis=alt.Axis(format=",~r")),
            color=_line_colour(),
            strokeDash=_line_dash(),
            tooltip=[
                alt.Tooltip("line:N", title="intruder with"),
                alt.Tooltip("size:Q", title="keys known"),
                alt.Tooltip("mean:Q", title=title.split(" (")[0], format=",.4~g"),
            ],
        )
    )
    return alt.layer(band, lines).properties(width=HALF, height=240)


def _histogram(bins: list[dict[str, Any]], title: str, colour: str) -> Chart:
    rows = [{**each, "range": f"{each['low']:.2f} to {each['high']:.2f}"} for each in bins]
    return (
        alt.Chart({"values": rows})
        .mark_bar(color=colour, binSpacing=1)
        .encode(
            x=alt.X(
                "low:Q", bin="binned", title=title, axis=alt.Axis(tickCount=6, format="~g", labelFlush=False)
            ),
            x2="high:Q",
            y=alt.Y("people:Q", title="people", axis=alt.Axis(tickMinStep=1, format=",d")),
            tooltip=[alt.Tooltip("range:N", title=title.split(" (")[0]), alt.Tooltip("people:Q", format=",")],
        )
        .properties(width=HALF, height=200)
    )


def _surprises(curve: dict[str, Any], axis: str, places: list[Any]) -> list[dict[str, Any]]:
    """The rows of the line T, at these places of the chart's axis."""
    return [
        {"line": SURPRISE, axis: place, "bits": bits}
        for place, bits in zip(places, curve["truth"]["bits"], strict=True)
    ]


def _line_colour(*further: str) -> alt.Color:
    lines = [*LINES, *further]
    scale = alt.Scale(domain=lines, range=[LINE_COLOURS[line] for line in lines])
    legend = alt.Legend(orient="top", symbolType="stroke", symbolStrokeWidth=3, labelLimit=320)
    return alt.Color("line:N", title=None, scale=scale, legend=legend)


def _line_dash(*further: str) -> alt.StrokeDash:
    """Dash patterns, so that lines can be distinguished without colour."""
    lines = [*LINES, *further]
    scale = alt.Scale(domain=lines, range=[LINE_DASHES[line] for line in lines])
    return alt.StrokeDash("line:N", title=None, scale=scale)


def _distinct(names: list[str]) -> list[str]:
    """The names, numbered where one occurs twice."""
    return [name if names.count(name) == 1 else f"{name} ({at})" for at, name in enumerate(names)]


def _whole_numbers(sizes: list[dict[str, Any]]) -> alt.Axis:
    return alt.Axis(values=[at["size"] for at in sizes], format="d", grid=False, labelFlush=False)


def _unit(facts: dict[str, Any]) -> str:
    """The unit of the confidential attribute."""
    confidential = facts["data"]["confidential"]
    text = drawable(confidential["measured_in"])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# The intervals of a released table's cells, as an intruder can compute them.

MOST_BARS = 30
INTERVALS_WIDTH = 560
UNSAFE, SECONDARY = "unsafe cell", "withheld to protect others"
LONGEST_CELL = 36
"""Characters of a cell's name."""


def interval_chart(facts: dict[str, Any]) -> Any:
    """One bar per withheld cell from its least to its greatest possible value, the narrowest on top; None without."""
    drawn = [
        row
        for row in facts["assessed"]
        if row["low"] is not None and row["high"] is not None and row["withheld"]
    ]
    drawn = sorted(drawn, key=lambda row: row["width"])[:MOST_BARS]
    if not drawn:
        return None
    rows = [
        {
            # The number keeps cells apart whose cut names are equal.
            "cell": f"{number}  {_name(row['categories'])}",
            "low": row["low"],
            "high": row["high"],
            "width": row["width"],
            "kind": UNSAFE if row["unsafe"] else SECONDARY,
        }
        for number, row in enumerate(drawn, 1)
    ]
    kinds = [kind for kind in (UNSAFE, SECONDARY) if any(row["kind"] == kind for row in rows)]
    colours = {UNSAFE: "#b23a00", SECONDARY: COLOURS[0]}
    of = "number of people" if facts["value"] is None else facts["value"]
    base = alt.Chart({"values": rows}).encode(
        x=alt.X(
            "low:Q", title=f"possible values of the cell: {drawable(of)[:LONGEST_CELL]} (wider is safer)"
        ),
        y=alt.Y("cell:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=kinds, range=[colours[kind] for kind in kinds]),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
        tooltip=[
            alt.Tooltip("cell:N", title="cell"),
            alt.Tooltip("low:Q", title="at least", format=",.6~g"),
            alt.Tooltip("high:Q", title="at most", format=",.6~g"),
            alt.Tooltip("width:Q", title="width", format=",.6~g"),
        ],
    )
    bars = base.mark_bar(height=9, cornerRadius=3).encode(x2="high:Q")
    # A tick at the lower end keeps an interval of one value visible.
    ends = base.mark_tick(thickness=3, size=13)
    return alt.layer(bars, ends).properties(width=INTERVALS_WIDTH, height=alt.Step(20))


def _name(categories: list[str | None]) -> str:
    text = drawable(", ".join("all" if label is None else label for label in categories))
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
