"""The report of categories: levels by name, no values, and no section that does not apply to them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.attributes.hierarchy import Hierarchy
from equivoc.charts.assessment import assessment_figures
from equivoc.render.page import render

ROWS = (
    ("flu", "lungs", "*"),
    ("asthma", "lungs", "*"),
    ("ulcer", "stomach", "*"),
    ("secretitis", "stomach", "*"),
)
TREE = eq.Tree("disease", Hierarchy(ROWS, names=("chapter", "all")))


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame({"sex": rng.choice(list("FM"), 60), "disease": [row[0] for row in ROWS] * 15})


def assessed(frame: pd.DataFrame, kind: object) -> eq.Assessment:
    people = eq.Microdata(frame, confidential=kind, keys=["sex"])  # type: ignore[arg-type]
    return eq.assess(people, eq.Sampling(0.5))  # type: ignore[no-any-return]


def test_a_tree_is_described_and_drawn_by_its_levels(frame: pd.DataFrame) -> None:
    result = assessed(frame, TREE)
    facts = result.facts()
    assert facts["curve"]["levels"] == ["disease", "chapter", "all"]
    assert facts["curve"]["release"][0] == pytest.approx(result.means["h0"])
    assert sum(facts["curve"]["release"]) == pytest.approx(result.means["area"])
    assert facts["figures"][1]["unit"] == "bits × levels"
    assert facts["data"]["confidential"]["words"] == "4 categories under a hierarchy of 3 levels"
    assert "is right about the chapter of a random person's disease" in facts["sentences"]["shown"]
    chart = assessment_figures(facts)["curve"].to_dict()
    assert chart["encoding"]["x"]["sort"] == ["disease", "chapter", "all"]
    (rows,) = chart["datasets"].values() if "datasets" in chart else [chart["data"]["values"]]
    assert {row["level"] for row in rows} == {"disease", "chapter", "all"}
    page = render(facts)
    assert "Uncertainty at every level" in page
    assert "within ±" not in page


def test_no_category_is_named(frame: pd.DataFrame) -> None:
    for kind in (TREE, "disease"):
        facts = assessed(frame, kind).facts(record_values=True)
        assert "secretitis" not in json.dumps(facts)
        assert "secretitis" not in render(facts)
        assert facts["data"]["confidential"]["low"] is None
        assert facts["summary"]["domain"].get("low") is None


def test_categories_without_a_hierarchy_have_no_curve(frame: pd.DataFrame) -> None:
    facts = assessed(frame, "disease").facts()
    assert facts["figures"][0]["release"] == pytest.approx(facts["figures"][1]["release"])
    assert "curve" not in assessment_figures(facts)
    page = render(facts)
    assert 'id="curve"' not in page
    assert "names a random person&#39;s exact disease" in page


def test_ranks_are_drawn_at_every_step(frame: pd.DataFrame) -> None:
    facts = assessed(frame, eq.Ordered("disease", [row[0] for row in ROWS])).facts()
    assert facts["curve"]["eps"] == [0.0, 1.0, 2.0, 3.0]
    assert facts["curve"]["every_break_point"]
    assert "is within ±1 rank of a random person's disease" in facts["sentences"]["shown"]


def test_a_private_release_of_ranks_has_no_budget_section(frame: pd.DataFrame) -> None:
    people = eq.Microdata(frame, confidential=eq.Ordered("disease", [row[0] for row in ROWS]), keys=["sex"])
    assert eq.assess(people, eq.GeometricNoise(1)).facts()["budget"] is None


def test_level_names_that_are_alike_or_strange_are_drawn_apart(frame: pd.DataFrame) -> None:
    strange = eq.Tree("disease", Hierarchy(ROWS, names=("disease", "a\\b")))
    chart = assessment_figures(assessed(frame, strange).facts())["curve"].to_dict()
    assert chart["encoding"]["x"]["sort"] == ["disease (0)", "disease (1)", "a＼b"]


def test_estimated_areas_are_named_on_the_page() -> None:
    pay = np.random.default_rng(2).permutation(np.arange(1, 1201) ** 2 % 99_991)
    people = eq.Microdata(pd.DataFrame({"pay": pay}), confidential="pay")
    facts = eq.assess(people, eq.Unprotected()).facts()
    assert facts["estimates"]["classes"] == 1
    assert facts["estimates"]["sentence"] in render(facts)
    assert "Give a precision" in facts["estimates"]["sentence"]
    assert eq.assess(people, eq.Unprotected(), precision=0.1).facts()["estimates"] is None
