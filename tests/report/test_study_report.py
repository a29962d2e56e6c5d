"""A study's report is made of its table and its own chart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pytest

import equivoc as eq
from equivoc.render.page import facts_of, write_report
from equivoc.render.study import study_notebook
from tests.report.conftest import HOSTILE
from tests.report.markup import Markup


class Done:
    """A stand-in for the result of a study."""

    kind = "study"
    seed = 5
    cells = (1,)

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "technique": ["sampling", "sampling", HOSTILE, HOSTILE],
                "parameters": ["fraction=0.1"] * 4,
                "known_size": [0, 1, 0, 1],
                "replicate": [0, 0, 0, 0],
                "h0": [2.5, 1.25, 3.0, float("nan")],
            }
        )

    def summary(self) -> pd.DataFrame:
        return self.frame.groupby(["technique", "parameters", "known_size"])[["h0"]].mean()

    def plot(self) -> alt.Chart:
        return alt.Chart(self.frame).mark_line().encode(x="known_size:Q", y="h0:Q", color="technique:N")


def test_facts_of_a_study() -> None:
    facts = facts_of(Done(), unit="K")
    assert facts["kind"] == "study"
    assert facts["techniques"] == ["sampling", HOSTILE]
    assert (facts["cells"], facts["replicates"], facts["known_sizes"], facts["seed"]) == (4, 1, [0, 1], 5)
    assert [c["name"] for c in facts["summary"]["columns"]] == ["technique", "parameters", "known_size", "h0"]
    assert ["sampling", "fraction=0.1", 1, 1.25] in facts["summary"]["rows"]
    assert [HOSTILE, "fraction=0.1", 1, None] in facts["summary"]["rows"]
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


@pytest.mark.parametrize("beside", [False, True])
def test_page_of_a_study_alone_or_beside_an_assessment(
    beside: bool, result: eq.Assessment, tmp_path: Path
) -> None:
    path = tmp_path / "study.html"
    page: Any = write_report(result, path, study=Done()) if beside else write_report(Done(), path)
    seen = Markup(page.read_text(encoding="utf-8"))
    charts = {a["data-chart"]: json.loads(data) for a, data in seen.scripts if "data-chart" in a}
    assert len(charts) == (5 if beside else 1)
    assert charts["study"]["mark"] == {"type": "line"}
    assert HOSTILE in seen.text
    assert seen.handlers == []
    assert "1.25" in seen.text


def test_notebook_table_of_a_study() -> None:
    told = Markup(study_notebook(Done()))
    assert HOSTILE in told.text
    assert not {"script", "img"} & {tag for tag, _ in told.elements}
