"""The contributions of keys as bars."""

from __future__ import annotations

import altair as alt

from equivoc.charts.drawing import drawable


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
