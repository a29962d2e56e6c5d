"""A real study's report and facts, through the methods of its result."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import equivoc as eq


def test_a_studys_report_holds_its_figures(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": list("FFMM"), "<b>age": [1, 2, 1, 2], "pay": [50, 107, 77, 80]})
    people = eq.Microdata(frame, confidential="pay", keys=["sex", "<b>age"])
    done = eq.Study(people, techniques=[eq.Sampling(0.5), eq.Unprotected()], replicates=2).run(progress=False)
    facts = json.loads(json.dumps(done.facts()))
    assert facts["techniques"] == ["sampling", "unprotected"]
    assert facts["replicates"] == 2
    page = done.report(tmp_path / "study.html").read_text(encoding="utf-8")
    assert "<b>age" not in page
    mean = float(done.summary().query("technique == 'unprotected' and known_size == 0")["area"].iloc[0])
    assert mean == pytest.approx(66.904509)
    assert "66.9" in page
    assert (facts["intruder"], facts["prior"], facts["true_hit_tolerance"]) == ("informed", "marginal", 5.0)
    labels = {column["name"]: column["label"] for column in facts["summary"]["columns"]}
    for name in ("surprise", "gain", "true_hit"):
        assert f'<th scope="col">{labels[name]}</th>' in page
    assert "The intruder is the informed one" in page
