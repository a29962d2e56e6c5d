"""The intervals of a released table's cells, as an intruder can compute them."""

from __future__ import annotations

from typing import Any

import altair as alt

from equivoc.charts.curve import COLOURS
from equivoc.charts.drawing import drawable

MOST_BARS = 30
WIDTH = 560
UNSAFE, SECONDARY = "unsafe cell", "withheld to protect others"
LONGEST = 36
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
        x=alt.X("low:Q", title=f"possible values of the cell: {drawable(of)[:LONGEST]} (wider is safer)"),
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
    return alt.layer(bars, ends).properties(width=WIDTH, height=alt.Step(20))


def _name(categories: list[str | None]) -> str:
    text = drawable(", ".join("all" if label is None else label for label in categories))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
