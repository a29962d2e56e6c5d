"""A study: its facts, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Protocol

from equivoc.data.remarks import left_out_sentence
from equivoc.render.assessment import versions
from equivoc.render.blocks import Block, Rows
from equivoc.render.parts import json_values
from equivoc.results.result import Renderer
from equivoc.text import figure, listed


class StudyResult(Protocol):
    """The attributes of a study that the report uses."""

    @property
    def frame(self) -> Any:
        """One row per technique × parameter × known size × replicate."""

    def summary(self) -> Any:
        """Averaged over replicates, with standard errors: a pandas frame."""

    def plot(self) -> Any:
        """An Altair chart."""


COLUMNS = {
    "technique": "technique",
    "parameters": "its parameters",
    "known_size": "keys known",
    "replicates": "replicates",
    "h0": "H0, bits, per class",
    "area": "area, per class",
    "h0_record": "H0, bits, per person",
    "area_record": "area, per person",
    "surprise": "surprise, bits, per person",
    "gain": "gain, bits, per person",
    "true_hit": "true hits, share of people",
}
"""Names of the table's columns on the page; others keep their names."""


def study_facts(
    result: StudyResult, *, unit: str = "", title: str | None = None, date: str | None = None
) -> dict[str, Any]:
    """The facts of the report of a study."""
    frame, summary = result.frame, result.summary()
    # The columns that identify a cell may be the index of a frame of averages.
    if any(name is not None for name in summary.index.names):
        summary = summary.reset_index()
    techniques = list(dict.fromkeys(frame["technique"].tolist()))
    data = getattr(result, "made_of", {}).get("data", {})
    facts: dict[str, Any] = json_values(
        {
            "kind": "study",
            "title": title or f"Disclosure risk of {listed(techniques)} compared",
            "question": "How does an intruder's remaining uncertainty depend on the technique, on its parameters, "
            "and on how many keys she knows?",
            "techniques": techniques,
            "cells": len(frame),
            "replicates": frame["replicate"].nunique(),
            "known_sizes": sorted(set(frame["known_size"].tolist())),
            "unit": unit,
            "intruder": getattr(result, "intruder", None),
            "prior": getattr(result, "prior", None),
            "true_hit_tolerance": getattr(result, "true_hit_tolerance", None),
            "notes": [left_out_sentence(data)] if data.get("left_out") else [],
            "summary": {
                "columns": [{"name": str(c), "label": COLUMNS.get(str(c), str(c))} for c in summary.columns],
                "rows": [list(row) for row in summary.itertuples(index=False, name=None)],
            },
            "versions": versions(),
            "seed": getattr(result, "seed", None),
            "date": date,
        }
    )
    return facts


def study_lines(done: Any) -> Iterator[Block]:
    """The averages of a study, beside the intruder and the prior."""
    data = done.made_of["data"]
    yield (
        f"{data['records']:,} records, {len(data['keys'])} keys; {len(done.made_of['techniques'])} techniques × "
        f"{done.made_of['replicates']} replicates; {done.frame['seconds'].sum():.1f} s of computation."
    )
    if data.get("left_out"):
        yield left_out_sentence(data)
    yield from done.remarks
    summary = done.summary()
    sizes = sorted({summary["known_size"].min(), summary["known_size"].max()})
    yield f"Intruder: {done.intruder}; prior: {done.prior}."
    yield (
        f"H0 (bits) and A (bits × {done.area_unit}): means over classes, less is riskier. Gain (bits of truth per "
        "person): more is riskier."
    )
    columns = [f"{measure}, {size} known" for measure in ("H0", "A", "gain") for size in sizes]
    rows = []
    for (technique, parameters), of_technique in summary.groupby(["technique", "parameters"], sort=False):
        by_size = of_technique.set_index("known_size")
        means = [by_size.loc[size, measure] for measure in ("h0", "area", "gain") for size in sizes]
        rows.append((technique, parameters, *map(figure, means)))
    yield Rows("", ("technique", "parameters", *columns), rows, left=2)


# In a notebook, and as a page.


def study_notebook(done: Any) -> str:
    """The chart and the summary as self-contained HTML."""
    heading = f"<p>{escape(repr(done)[1:-1])}</p>"
    if not done.cells:
        return heading
    from equivoc.charts.drawing import svg

    drawing = svg(done.plot())
    summary = done.summary()
    if any(name is not None for name in summary.index.names):
        summary = summary.reset_index()
    table = summary.to_html(index=False, float_format=figure, escape=True, border=0)
    return f"{heading}{drawing}<details><summary>averages over replicates</summary>{table}</details>"


RENDERER = Renderer(
    study_facts,
    frozenset({"unit", "title", "date"}),
    study_notebook,
    study_lines,
    "study",
    lambda facts, done: {"study": done.plot()},
)
