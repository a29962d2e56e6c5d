"""The report's section on privacy budgets: present if the release is differentially private, or on request."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import equivoc as eq
from equivoc.cli.app import app
from equivoc.render.page import facts_of


def assessed(frame: pd.DataFrame, technique) -> eq.Assessment:
    people = eq.Microdata(frame, confidential="pay", keys=["age", "sex"], domain=set(frame.pay))
    return eq.assess(people, technique, known=["sex"], seed=3)


@pytest.mark.parametrize(
    "technique", [eq.GeometricNoise(2), eq.NoisyTable(0.5, levels="public")], ids=lambda t: t.name
)
def test_the_budget_of_a_private_release_is_marked(frame, tmp_path, technique):
    """The chart's ε is for a change of one value; for a table with ε for the presence of a person, that is 2ε."""
    result = assessed(frame, technique)
    epsilon = {"geometric-noise": 2, "noisy-table": 1}[technique.name]
    facts = result.facts()
    told = facts["budget"]
    assert json.loads(json.dumps(facts, allow_nan=False))["budget"] == told
    shown = facts["shown_hit"]
    uniform = eq.assess(result.people, technique, known=["sex"], seed=3, prior="uniform", intruder="informed")
    means = uniform.means
    assert told["here"] == {"epsilon": epsilon, "h0": means["h0"], "hit": means["hit"][shown["eps"]]}
    same = eq.budget(result.people, known=["sex"], eps=shown["eps"], seed=3)
    assert told["rows"] == same.frame.to_dict("records")
    assert told["prior"]["hit"] == pytest.approx(uniform.summary["prior"]["hit"][shown["eps"]])
    assert told["unprotected"]["h0"] == pytest.approx(facts["figures"][0]["unprotected"])
    page = result.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count('<section id="budget">') == page.count('data-chart="budget"') == 1
    assert f"This release spends ε = {epsilon}." in page


def test_others_have_it_on_request(frame, tmp_path):
    result = assessed(frame, eq.Sampling(0.5))
    assert result.facts()["budget"] is None
    assert '<section id="budget">' not in result.report(tmp_path / "no.html").read_text(encoding="utf-8")
    told = result.facts(budget=True)["budget"]
    assert told["here"] is None
    assert len(told["rows"]) == 17
    page = result.report(tmp_path / "yes.html", budget=True).read_text(encoding="utf-8")
    assert '<section id="budget">' in page
    assert "This release spends" not in page


def test_a_release_of_one_value_has_no_budget_to_show(frame):
    result = assessed(frame.assign(pay=5), eq.GeometricNoise(1))
    assert result.facts()["budget"] is None
    with pytest.raises(eq.InputError, match="has one value only"):
        result.facts(budget=True)


def test_the_command(frame, tmp_path: Path):
    frame.to_csv(tmp_path / "people.csv", index=False)
    options = ["--confidential", "pay", "--keys", "age,sex", "--known", "sex", "--seed", "3"]
    out, facts = tmp_path / "r.html", tmp_path / "facts.json"
    written = ["--out", str(out), "--json", str(facts)]
    done = CliRunner().invoke(app, ["report", str(tmp_path / "people.csv"), *options, *written, "--budget"])
    assert done.exit_code == 0, done.output
    assert len(json.loads(facts.read_text(encoding="utf-8"))["budget"]["rows"]) == 17
    assert '<section id="budget">' in out.read_text(encoding="utf-8")


def test_a_study_has_no_budget(frame):
    people = eq.Microdata(frame, confidential="pay", keys=["sex"])
    done = eq.Study(people, techniques=[eq.Sampling(0.5)], replicates=1).run()
    with pytest.raises(eq.InputError, match="only an assessment has a section on the privacy budget"):
        facts_of(done, budget=True)
