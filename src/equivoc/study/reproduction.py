"""The paper's experiment: its data, its techniques and parameters, its figures.

Alfalayleh and Brankovic, *Quantifying Privacy* (2014): sampling 5, 10, 20, 50 %; query set sizes 2 to 32; noise (the
paper's levels are unreadable in our copy) 5 to 100 %; 30 releases of each; intruders who know any 0 … 6 of the keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.charts.curve import COLOURS
from equivoc.charts.drawing import drawable
from equivoc.data.microdata import Microdata
from equivoc.datasets import people as shipped_people
from equivoc.datasets import read_pums
from equivoc.errors import InputError
from equivoc.study.study import Study
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.sampling import Sampling

if TYPE_CHECKING:
    import altair
    import pandas as pd

SHIPPED = "cps_hourly_workers"
FRACTIONS = (0.05, 0.1, 0.2, 0.5)
QUERY_SIZES = (2, 4, 8, 16, 32)
NOISE_PERCENTS = (5, 10, 20, 40, 60, 80, 100)


def experiment_people(pums: Path | None, *, records: int, seed: int) -> Microdata:
    """The shipped people, or ``records`` people of a Census file recoded to the paper's seven attributes."""
    if pums is None:
        return shipped_people(SHIPPED)
    frame = read_pums(pums, records=records, seed=seed)
    keys = [name for name in frame.columns if name != "Salary"]
    return Microdata(frame, confidential="Salary", keys=keys, domain=range(10, 260, 10))


def experiment(people: Microdata, *, replicates: int, seed: int) -> Study:
    """The whole study: 16 techniques with their parameters."""
    if len(people) < max(QUERY_SIZES):
        raise InputError(
            f"there are {len(people)} people, but the paper's largest query sums {max(QUERY_SIZES)}: draw more records."
        )
    techniques = [
        *(Sampling(fraction=f) for f in FRACTIONS),
        *(QueryRestriction(size=q) for q in QUERY_SIZES),
        *(NoiseAddition(percent=k) for k in NOISE_PERCENTS),
    ]
    return Study(
        people, techniques=techniques, replicates=replicates, seed=seed, prior="uniform", intruder="paper"
    )


def noise_figure(summary: pd.DataFrame, *, confidential: str) -> altair.ConcatChart:
    """Noise addition: H0 and A against the number of known keys, and against the amount of noise."""
    import altair as alt

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
