"""The chart of H(ε): one description for notebook, PNG, SVG and page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import altair as alt
import numpy as np
from numpy.typing import NDArray

from equivoc.charts.drawing import drawable

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
