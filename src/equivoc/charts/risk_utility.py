"""The risk–utility map: what each technique loses against its risk, the front, and the limit of a requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import altair as alt

from equivoc.charts.curves import COLOURS
from equivoc.charts.drawing import drawable, label_places
from equivoc.text import figure

WIDTH, HEIGHT = 460, 340
MARGIN = 0.06
"""The share of an axis that is left free beyond the outermost point."""
UNEVEN = 5.0
"""Losses are drawn on a square-root scale if the largest is more than so many times their median."""
EMPTY = 0.4
"""The axis of the risk begins at 0 if at most this share of it lies below the lowest point."""
STATES = {
    "the choice": ("#009e73", "diamond"),
    "meets every requirement": (COLOURS[0], "circle"),
    "does not": ("#b23a00", "cross"),
}
"""Colour and shape of a point; "does not" is left out if nothing is required."""
LONGEST_NAME = 44
LINE_HEIGHT = 17


@dataclass(frozen=True)
class MapPoint:
    """A technique on the map."""

    number: int
    name: str
    risk: tuple[float, float, float]
    """Mean, and the ends of the 95 % interval."""
    loss: tuple[float, float, float]
    meets: bool
    front: bool
    chosen: bool

    @property
    def drawn(self) -> bool:
        """False if one of the figures does not apply."""
        return isfinite(self.risk[0]) and isfinite(self.loss[0])


def risk_utility_chart(
    points: Sequence[MapPoint],
    *,
    risk: str,
    risk_unit: str,
    riskier: str,
    limit: float | None,
    limit_text: str,
    loss: str,
    loss_words: str,
) -> alt.TopLevelMixin:
    """The map beside the list of names. ``limit`` is that of the first requirement, ``riskier`` "more" or "less"."""
    drawn = [point for point in points if point.drawn]
    axes = _Axes.around(drawn, limit)
    safe = "lower" if riskier == "more" else "higher"
    x = alt.X(
        "loss:Q",
        title=[
            f"{loss}: {loss_words}",
            "← further left is more useful" + ("; square-root scale" if axes.root else ""),
        ],
        scale=axes.x_scale,
        axis=alt.Axis(grid=True, tickCount=7, format="~g"),
    )
    y = alt.Y(
        "risk:Q",
        title=[
            f"{drawable(risk)}, {drawable(risk_unit)}",
            f"{safe} is safer {'↓' if safe == 'lower' else '↑'}",
        ],
        scale=axes.y_scale,
        axis=alt.Axis(format="~g"),
    )
    layers = [
        *_limit_layers(axes, limit, drawable(limit_text), riskier, y),
        *_front_layers(drawn, x, y),
        *_bars(drawn, x, y),
        *_points(drawn, axes, x, y, required=limit is not None, risk=drawable(risk), loss=loss),
    ]
    chart = alt.LayerChart(layer=layers).properties(width=WIDTH, height=HEIGHT)
    together: alt.TopLevelMixin = (
        alt.hconcat(chart, _names(points), spacing=12)
        .properties(
            title=alt.Title(
                "Risk and what is lost",
                subtitle="Numbers are those of the table; grey line: the front, beyond which nothing is better in both",
                anchor="start",
                subtitleColor="#555",
                offset=12,
            )
        )
        .configure_view(stroke="#ccc")
        .configure_axis(gridColor="#eee", titleFontWeight="normal")
        .configure_legend(symbolOpacity=1)
    )
    return together


@dataclass(frozen=True)
class _Axes:
    """The ranges of both axes; ``root``: losses are on a square-root scale."""

    x: tuple[float, float]
    y: tuple[float, float]
    root: bool

    @classmethod
    def around(cls, drawn: Sequence[MapPoint], limit: float | None) -> _Axes:
        losses = sorted(point.loss[0] for point in drawn) or [0.0]
        ends = [end for point in drawn for end in point.loss if isfinite(end)] or [0.0]
        above = [loss for loss in losses if loss > 0] or [0.0]
        root = max(ends) > UNEVEN * above[len(above) // 2] > 0
        risks = [end for point in drawn for end in point.risk if isfinite(end)]
        risks += [] if limit is None else [limit]
        low, high = min(risks, default=0.0), max(risks, default=1.0)
        # From 0, unless that would leave most of the chart empty.
        low = 0.0 if 0 <= low < EMPTY * high else low - MARGIN * (high - low)
        return cls((0.0, _beyond(0.0, max(ends))), (low, _beyond(low, high)), root)

    @property
    def x_scale(self) -> alt.Scale:
        return alt.Scale(domain=list(self.x), nice=False, type="sqrt" if self.root else "linear")

    @property
    def y_scale(self) -> alt.Scale:
        return alt.Scale(domain=list(self.y), nice=False)

    def pixels(self, loss: float, risk: float) -> tuple[float, float]:
        """Where a point is drawn, from the upper left corner."""
        share = loss / self.x[1]
        across = sqrt(share) if self.root else share
        return across * WIDTH, (self.y[1] - risk) / (self.y[1] - self.y[0]) * HEIGHT

    def figures(self, x: float, y: float) -> tuple[float, float]:
        """The loss and the risk at a place in pixels."""
        share = x / WIDTH
        return (share**2 if self.root else share) * self.x[1], self.y[1] - y / HEIGHT * (
            self.y[1] - self.y[0]
        )


def _like(axis: Any, column: str) -> Any:
    """The same axis for another column: layers whose titles differ would join or drop them."""
    found = axis.copy()
    found.shorthand = column
    return found


def _beyond(low: float, high: float) -> float:
    """The end of an axis from ``low``, a little beyond ``high``."""
    return high + MARGIN * (high - low) if high > low else low + 1.0


def _limit_layers(axes: _Axes, limit: float | None, text: str, riskier: str, y: alt.Y) -> list[alt.Chart]:
    """The limit as a line with its text; the side that is not allowed is shaded."""
    if limit is None:
        return []
    low, high = (limit, axes.y[1]) if riskier == "more" else (axes.y[0], limit)
    below = riskier == "more"
    values = {"values": [{"risk": limit, "low": low, "high": high, "text": f"limit: {text}"}]}
    base = alt.Chart(values)
    shade = base.mark_rect(color="#b23a00", opacity=0.07).encode(y=_like(y, "low:Q"), y2="high:Q")
    line = base.mark_rule(color="#b23a00", strokeDash=[6, 4], strokeWidth=1.6).encode(y=y)
    label = base.mark_text(
        align="right",
        baseline="top" if below else "bottom",
        dy=4 if below else -4,
        color="#b23a00",
        fontSize=11,
    ).encode(x=alt.value(WIDTH - 4), y=y, text="text:N")
    return [shade, line, label]


def _front_layers(drawn: Sequence[MapPoint], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A line through the techniques on the front, from the most useful to the safest."""
    front = sorted((point for point in drawn if point.front), key=lambda point: point.loss[0])
    values = {"values": [{"loss": point.loss[0], "risk": point.risk[0]} for point in front]}
    return [
        alt.Chart(values)
        .mark_line(color="#8a929a", strokeWidth=2, interpolate="linear")
        .encode(x=x, y=y, order=alt.Order("loss:Q"))
    ]


def _bars(drawn: Sequence[MapPoint], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The 95 % intervals of the means over replicates."""
    rows = [
        {
            "loss": point.loss[0],
            "risk": point.risk[0],
            "risk_low": point.risk[1],
            "risk_high": point.risk[2],
            "loss_low": point.loss[1],
            "loss_high": point.loss[2],
        }
        for point in drawn
        if point.risk[1] < point.risk[2] or point.loss[1] < point.loss[2]
    ]
    if not rows:
        return []
    base = alt.Chart({"values": rows}).mark_rule(color="#555", strokeWidth=1.1)
    up = base.encode(x=x, y=_like(y, "risk_low:Q"), y2="risk_high:Q")
    across = base.encode(y=y, x=_like(x, "loss_low:Q"), x2="loss_high:Q")
    return [up, across]


def _points(
    drawn: Sequence[MapPoint], axes: _Axes, x: alt.X, y: alt.Y, *, required: bool, risk: str, loss: str
) -> list[alt.Chart]:
    """The points, and their numbers where there is room."""
    states = [state for state in STATES if required or state != "does not"]
    colours, shapes = zip(*(STATES[state] for state in states), strict=True)
    names = states if required else ["the choice", "another technique"]
    at = label_places(
        [axes.pixels(point.loss[0], point.risk[0]) for point in drawn],
        [len(str(point.number)) for point in drawn],
        width=WIDTH,
        height=HEIGHT,
    )
    rows: list[dict[str, Any]] = [
        {
            "number": str(point.number),
            "name": drawable(point.name),
            "risk": point.risk[0],
            "loss": point.loss[0],
            "state": names[0 if point.chosen else 1 if point.meets else 2],
            "front": "yes" if point.front else "no",
            "risk_range": _range(point.risk),
            "loss_range": _range(point.loss),
            "label_x": place[0],
            "label_y": place[1],
        }
        for point, place in zip(drawn, (axes.figures(*each) for each in at), strict=True)
    ]
    rows.sort(key=lambda row: row["state"] == names[0])  # the choice is drawn last, over the others
    legend = alt.Legend(orient="bottom", title=None, labelLimit=260)
    colour = alt.Color("state:N", scale=alt.Scale(domain=list(names), range=list(colours)), legend=legend)
    shape = alt.Shape("state:N", scale=alt.Scale(domain=list(names), range=list(shapes)), legend=legend)
    tooltip = [
        alt.Tooltip("number:N", title="number"),
        alt.Tooltip("name:N", title="technique"),
        alt.Tooltip("risk_range:N", title=risk),
        alt.Tooltip("loss_range:N", title=loss),
        alt.Tooltip("front:N", title="on the front"),
    ]
    base = alt.Chart({"values": rows})
    shown = base.mark_point(filled=True, opacity=1, size=110).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    labels = base.mark_text(fontSize=12, fontWeight=600, baseline="middle").encode(
        x=_like(x, "label_x:Q"), y=_like(y, "label_y:Q"), text="number:N"
    )
    return [shown, labels]


def _names(points: Sequence[MapPoint]) -> alt.LayerChart:
    """The list of names beside the map, the choice in bold."""
    texts = [
        f"{point.number}  {_short(drawable(point.name))}{'' if point.drawn else ' (not drawn)'}"
        for point in points
    ]
    height = len(texts) * LINE_HEIGHT
    y = alt.Y("place:Q", scale=alt.Scale(domain=[0, len(texts)], range=[0, height], nice=False), axis=None)
    layers = []
    for chosen in (False, True):
        rows = [
            {"place": at, "text": text}
            for at, (point, text) in enumerate(zip(points, texts, strict=True))
            if point.chosen is chosen
        ]
        lines = alt.Chart({"values": rows}).mark_text(
            align="left", baseline="top", fontSize=12, fontWeight="bold" if chosen else "normal"
        )
        layers.append(lines.encode(x=alt.value(0), y=y, text="text:N"))
    return alt.LayerChart(layer=layers).properties(
        width=7 * max(map(len, texts)), height=height, view={"stroke": None}
    )


def _range(interval: tuple[float, float, float]) -> str:
    mean, low, high = interval
    return figure(mean) if low == high else f"{figure(mean)} (95 %: {figure(low)} to {figure(high)})"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
