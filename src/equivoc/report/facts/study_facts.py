"""The facts of a study: its table over replicates, and what was varied."""

from __future__ import annotations

from typing import Any, Protocol

from equivoc.models.phrases import listed
from equivoc.report.facts.assessment_facts import versions
from equivoc.report.facts.json_values import json_values


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
    told: dict[str, Any] = json_values(
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
            "summary": {
                "columns": [{"name": str(c), "label": COLUMNS.get(str(c), str(c))} for c in summary.columns],
                "rows": [list(row) for row in summary.itertuples(index=False, name=None)],
            },
            "versions": versions(),
            "seed": getattr(result, "seed", None),
            "date": date,
        }
    )
    return told
