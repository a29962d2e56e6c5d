"""The report's answer: may it be published, which requirement fails, and what would help."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.render.truth import help_sentence

RNG = np.random.default_rng(9)
AGE = RNG.integers(20, 50, 300)
FRAME = pd.DataFrame(
    {
        "age": AGE,
        "sex": RNG.choice(["F", "M"], 300),
        "pay": AGE // 3 * 10,  # age tells it all, sex nothing
        "ill": RNG.choice(["flu", "gout", "none"], 300),
    }
)


def people(confidential: object = "pay", keys: tuple[str, ...] = ("age", "sex")) -> eq.Microdata:
    return eq.Microdata(FRAME, confidential=confidential, keys=list(keys))


def told(require: list[str], technique: object = None, **options: object) -> dict:
    facts = eq.assess(people(), technique or eq.Unprotected(), require=require, **options).facts()
    assert facts["requirements"] is not None
    return facts


def test_without_requirements_the_headline_is_about_disclosure() -> None:
    facts = eq.assess(people(), eq.Unprotected()).facts()
    assert facts["requirements"] is None
    assert facts["verdict"]["headline"] == facts["verdict"]["disclosed"]
    assert facts["verdict"]["headline"].startswith("On average")


def test_yes() -> None:
    facts = told(["k >= 1", "hit(20) <= 1"])
    assert facts["verdict"]["headline"] == "Yes, under these requirements it may be published. All 2 are met."
    assert facts["verdict"]["calm"] is True
    assert facts["requirements"]["help"] == ""
    assert facts["verdict"]["disclosed"].startswith("On average most is disclosed")


def test_the_key_that_tells_most_is_named_and_tried() -> None:
    facts = told(["true_hit(0) <= 0.5"])
    assert facts["verdict"]["headline"] == (
        "No, under this requirement it may not be published. true_hit(0) <= 0.5 is not met: it is 1, which is 0.5 "
        "too much."
    )
    help_told = facts["requirements"]["help"]
    assert "release age in less detail or not at all" in help_told
    known_sex = eq.assess(people(), eq.Unprotected(), known=["sex"], eps=[0])
    without = known_sex.records["true_hit_0"].mean()
    assert f"Without age, true_hit(0) is {without:.4g}, which meets the limit." in help_told
    assert "pay itself can also help: release it rounded" in help_told
    assert f"{facts['contributions'][0]['bits']:.4g} of the" in help_told


def test_a_key_that_is_not_enough() -> None:
    facts = told(["hit(20)@worst <= 0.37"])
    assert "Without age, hit(20)@worst is" in facts["requirements"]["help"]
    assert "does not yet meet the limit" in facts["requirements"]["help"]
    assert "multiples of 40 or more (twice the tolerance 20)" in facts["requirements"]["help"]


def test_the_size_of_classes_is_not_helped_by_the_confidential_attribute() -> None:
    help_told = told(["k >= 20"])["requirements"]["help"]
    assert f"Without age, k is {FRAME.groupby('sex').size().min()}, which meets the limit." in help_told
    assert "pay itself" not in help_told


def test_a_limit_that_is_missed_without_any_release() -> None:
    shares = FRAME["pay"].value_counts(normalize=True)
    for require, prior in (
        ("h0 >= 8", -(shares * np.log2(shares)).sum()),
        ("true_hit(0) <= 0.01", shares.max()),
        ("hit(0)@worst <= 0.01", shares.max()),
    ):
        found = told([require])["requirements"]
        assert found["help"].startswith("Choose another limit for")
        assert (
            f"Even if nothing is released it is {prior:.4g}, so no protection" in found["rows"][0]["sentence"]
        )
        assert found["rows"][0]["nothing_released"] == pytest.approx(prior, abs=1e-12)


def test_nobody_known_needs_less_detail() -> None:
    result = eq.assess(
        people(), eq.Unprotected(), known=[], prior="uniform", eps=[0, 20], require=["hit <= 0.3"]
    )
    assert help_sentence(result, result.requirements[0]) == (
        "What would help most is less detail in pay: release it rounded to multiples of 40 or more (twice the "
        "tolerance 20)."
    )


def test_categories_are_helped_by_larger_ones() -> None:
    result = eq.assess(people(eq.Categories("ill")), eq.Unprotected(), require=["certain_right <= 0"])
    assert "larger categories" in result.facts()["requirements"]["help"]


def test_a_figure_that_does_not_apply() -> None:
    facts = told(["k >= 3"], eq.NoisyTable(epsilon=1))
    assert "no file of records" in facts["verdict"]["headline"]
    assert "Leave k >= 3 out" in facts["requirements"]["help"]


def test_a_requirement_in_the_wrong_direction() -> None:
    assert (
        "asks for risk"
        in told(["hit(20)@worst >= 1", "h0 <= 0.5", "k >= 100"], known=["sex"])["requirements"]["help"]
    )


def test_one_random_release_says_so() -> None:
    technique = eq.Sampling(fraction=0.5)
    assert "seed 7" in told(["k >= 1"], technique, seed=7)["requirements"]["note"]
    assert told(["k >= 1"], technique, replicates=2)["requirements"]["note"] == ""
    assert told(["k >= 1"])["requirements"]["note"] == ""


def test_the_page_and_the_notebook_answer(tmp_path: Path) -> None:
    result = eq.assess(people(), eq.Unprotected(), require=["true_hit(0) <= 0.5", "k >= 1"])
    page = result.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "No, under these requirements it may not be published. true_hit(0) &lt;= 0.5 is not met" in page
    assert 'class="verdict alarm"' in page
    assert "<code>k &gt;= 1</code>" in page
    assert "may not be published" in result._repr_html_()
    calm = eq.assess(people(), eq.Unprotected(), require=["k >= 1"]).report(tmp_path / "calm.html")
    assert 'class="verdict calm"' in calm.read_text(encoding="utf-8")


@pytest.mark.parametrize("known", [["age", "sex"], ["sex"], []], ids=str)
def test_facts_can_be_written_as_json(known: list[str]) -> None:
    every = ["h0 >= 3", "area@p95 >= 1", "surprise@worst >= 1", "gain(20) <= 1", "hit <= 0.5", "t <= 0.1"]
    facts = told(every, known=known)
    assert [
        row["requirement"].split(" ")[0].split("(")[0].split("@")[0] for row in facts["requirements"]["rows"]
    ] == [
        "h0",
        "area",
        "surprise",
        "gain",
        "hit",
        "t",
    ]
