"""Requirements of an assessment: judged by its own figures, over replicates, for each attribute."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import equivoc as eq
from equivoc.requirements.requirement import parse_requirement

RNG = np.random.default_rng(11)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(20, 40, 150),
        "sex": RNG.choice(["F", "M"], 150),
        "pay": RNG.integers(1, 9, 150) * 10,
        "illness": RNG.choice(["flu", "gout", "none"], 150),
    }
)


def people() -> eq.Microdata:
    return eq.Microdata(FRAME, confidential="pay", keys=["age", "sex"])


def several() -> eq.Microdata:
    return eq.Microdata(FRAME, confidential=[eq.Number("pay"), eq.Categories("illness")], keys=["age", "sex"])


def test_without_requirements_everything_is_met() -> None:
    result = eq.assess(people(), eq.Unprotected())
    assert (result.requirements, result.meets) == ((), True)
    assert "requirements" not in result.summary


def test_each_requirement_is_judged() -> None:
    asked = ["h0 >= 1", "true_hit(20) <= 1", "k >= 1000", "certain_right <= 0", "gain@p95 <= 100"]
    result = eq.assess(people(), eq.Unprotected(), require=asked)
    assert [each.requirement.text for each in result.requirements] == asked
    by_figure = {each.requirement.figure: each for each in result.requirements}
    sizes = FRAME.groupby(["age", "sex"]).size()
    assert (by_figure["k"].value, by_figure["k"].missed_by) == (sizes.min(), 1000 - sizes.min())
    assert by_figure["h0"].value == result.means["h0"]
    assert by_figure["true_hit"].meets
    assert not result.meets
    told = result.summary["requirements"]
    assert [row["requirement"] for row in told] == [*asked[:4], "gain(0)@p95 <= 100"]
    assert [row["meets"] for row in told] == [each.meets for each in result.requirements]


@pytest.mark.parametrize("left", ["true_hit(20)", "hit(20)@worst", "gain", "t"])
def test_a_limit_just_below_the_figure_is_missed(left: str) -> None:
    value = eq.assess(people(), eq.Generalisation(k=5), require=[f"{left} <= 1"]).requirements[0].value
    for limit, meets in ((value - 0.001, False), (value + 0.001, True)):
        result = eq.assess(people(), eq.Generalisation(k=5), require=[f"{left} <= {limit}"])
        assert result.meets is meets
        assert result.requirements[0].missed_by == pytest.approx(0 if meets else 0.001, abs=1e-9)


def test_named_tolerances_come_last() -> None:
    result = eq.assess(people(), eq.Unprotected(), eps=[0, 30], require=["hit(10) <= 1", "hit <= 1"])
    assert result.eps == (0, 30, 10)
    assert [each.eps for each in result.requirements] == [10, 30]
    assert [each.text for each in result.requirements] == ["hit(10) <= 1", "hit(30) <= 1"]
    alone = eq.assess(people(), eq.Unprotected(), eps=[0, 30])
    for name in ("hit", "true_hit"):
        assert result.intruders[name].tolist() == alone.intruders[name].tolist()
        assert result.means[name][30] == alone.means[name][30]


def test_replicates_are_judged_at_the_riskier_end() -> None:
    technique = eq.Sampling(fraction=0.5)
    alone = [eq.assess(people(), technique, seed=4 + i, eps=[0, 20]) for i in range(5)]
    hits = np.array([each.means["true_hit"][20] for each in alone])
    low, high = stats.t.interval(0.95, 4, loc=hits.mean(), scale=stats.sem(hits))
    assert high > hits.mean()
    for limit, meets in ((hits.mean(), False), (high - 1e-6, False), (high + 1e-6, True)):
        result = eq.assess(
            people(), technique, seed=4, replicates=5, eps=[0, 20], require=[f"true_hit(20) <= {limit}"]
        )
        found = result.requirements[0]
        assert (found.value, found.low, found.high) == pytest.approx((hits.mean(), low, high), rel=1e-9)
        assert (found.meets, found.releases) == (meets, 5)
        assert f"judged at {high:.4g}" in found.sentence
    spread = result.summary["spread"]
    assert (spread["true_hit"]["low"], spread["true_hit"]["high"]) == pytest.approx((low, high), rel=1e-9)


def test_worst_and_k_over_replicates_are_those_of_each_release() -> None:
    technique = eq.Sampling(fraction=0.5)
    asked = ["h0@worst >= 0", "k >= 1"]
    result = eq.assess(people(), technique, seed=1, replicates=3, require=asked)
    alone = [eq.assess(people(), technique, seed=1 + i) for i in range(3)]
    worst = [each.records["h0"].min() for each in alone]
    smallest = [each.release.table.groupby(["age", "sex"]).size().min() for each in alone]
    assert [each.value for each in result.requirements] == pytest.approx([np.mean(worst), np.mean(smallest)])


def test_a_technique_that_is_not_random_is_judged_once() -> None:
    result = eq.assess(people(), eq.Generalisation(k=3), replicates=4, require=["k >= 3"])
    assert (result.requirements[0].releases, result.meets) == (1, True)


def test_several_attributes_are_all_judged() -> None:
    asked = ["true_hit <= 0.999", "k >= 3"]
    for given in (asked, iter(asked), tuple(map(parse_requirement, asked))):
        result = eq.assess(several(), eq.Generalisation(k=3), require=given)
        assert [(each.attribute, each.requirement.text) for each in result.requirements] == [
            (name, text) for name in ("pay", "illness") for text in asked
        ]
    assert result.meets
    hits = {name: each.means["true_hit"][each.hit_eps] for name, each in result.attributes.items()}
    least, most = sorted(hits, key=lambda name: hits[name])
    limit = (hits[least] + hits[most]) / 2
    result = eq.assess(several(), eq.Generalisation(k=3), require=[f"true_hit <= {limit}"])
    assert {each.attribute: each.meets for each in result.requirements} == {least: True, most: False}
    assert not result.meets
    assert [row["attribute"] for row in result.summary["requirements"]] == ["pay", "illness"]


def test_a_released_file_is_judged(tmp_path) -> None:
    path = tmp_path / "released.csv"
    FRAME.assign(age=FRAME["age"] // 10 * 10).to_csv(path, index=False)
    result = eq.assess(people(), eq.ReleasedFile(path), require=["k >= 2", "true_hit(20) <= 0.01"])
    assert result.requirements[0].value == FRAME.groupby([FRAME["age"] // 10, "sex"]).size().min()
    assert result.requirements[1].value == pytest.approx(result.records["true_hit_20"].mean())
    assert [each.meets for each in result.requirements] == [True, False]


def test_an_existing_release_is_judged() -> None:
    everyone = people()
    release = eq.Sampling(fraction=0.5).release(everyone, 3)
    assert eq.assess(everyone, release, require=["k >= 1"]).meets


def test_a_figure_that_does_not_apply_is_not_met() -> None:
    result = eq.assess(
        eq.Microdata(FRAME, confidential="pay", keys=["sex"]), eq.NoisyTable(epsilon=1), require="k >= 1"
    )
    assert not result.meets
    assert "no file of records" in result.requirements[0].sentence


@pytest.mark.parametrize(
    "require",
    [
        ["hit >= 0.9", "hit(20) <= 0.1"],  # the same once the tolerance is known
        ["gain(0) <= 1", "gain >= 2"],
        ["h0 >= 2", "h0 <= 1"],
        ["h0 > 2"],
        ["nothing >= 2"],
        5,
    ],
)
def test_bad_requirements_are_refused(require: object) -> None:
    with pytest.raises(eq.InputError):
        eq.assess(people(), eq.Unprotected(), eps=[20], require=require)
    with pytest.raises(eq.InputError):
        eq.assess(several(), eq.Unprotected(), eps={"pay": [20]}, require=require)
