"""The verdict is about the truth: shares from 0 to 1, people disclosed, and the intruders that were tried."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.render import truth as truth_facts
from tests.report.markup import Markup
from tests.report.plain_computation import Sample

KNOWN = ["age", "sex"]


@pytest.fixture(scope="module")
def facts(result: eq.Assessment) -> dict[str, Any]:
    return result.facts(unit="K")


def test_surprise_and_people_disclosed_by_hand(
    facts: dict[str, Any], frame: pd.DataFrame, result: eq.Assessment
) -> None:
    drawn = {int(i) for i in result.release.drawn}  # type: ignore[attr-defined]
    rows = list(frame[KNOWN].itertuples(index=False, name=None))
    sample = Sample(rows, KNOWN, [float(v) for v in frame["pay"]], drawn)
    pairs, certain, bare = [], [0, 0], 0.0
    for members in sample.classes(KNOWN).values():
        belief, shares = sample.belief(members), sample.truth(members)
        sure = max(belief.values()) > 1 - 1e-12
        for i in members:
            truth = sample.pay[i]
            pairs.append((belief[truth], sample.prior[truth]))
            bare -= log2(shares[truth])
            if sure:
                certain[belief[truth] < 0.5] += 1

    def surprises(trust: float) -> list[float]:
        return [-log2(trust * p + (1 - trust) * q) if trust * p + (1 - trust) * q else 1e9 for p, q in pairs]

    best = min(np.linspace(0, 1, 2001), key=lambda trust: sum(surprises(trust)))
    bits, told = surprises(best), facts["truth"]
    prior = sum(-log2(q) for _, q in pairs) / len(pairs)
    assert told["surprise"] == pytest.approx(np.mean(bits), abs=1e-6)
    assert told["prior"] == pytest.approx(prior)
    assert told["unprotected"] == pytest.approx(bare / len(pairs))
    assert told["gain"] == pytest.approx(prior - np.mean(bits), abs=1e-6)
    assert told["given_away"] == pytest.approx(1 - np.mean(bits) / prior, abs=1e-6)
    assert (told["certain_right"], told["certain_wrong"]) == tuple(certain)
    assert told["below_half_bit"] == pytest.approx(np.mean(np.array(bits) < 0.5))
    assert told["over_people"]["min"] == pytest.approx(min(bits), abs=1e-3)
    assert facts["verdict"]["share_given_away"] == told["given_away"]
    assert f"certain and right about {certain[0]} " in facts["verdict"]["headline"]


@pytest.mark.parametrize(
    "technique",
    [eq.Sampling(fraction=0.1), eq.QueryRestriction(size=4), eq.Unprotected(), eq.Rounding(base=20)],
    ids=lambda t: t.name,
)
@pytest.mark.parametrize("intruder", ["paper", "strongest"])
def test_shares_never_pass_100_percent(frame: pd.DataFrame, technique: Any, intruder: str) -> None:
    """The published intruder's uniform prior has more uncertainty than the public distribution."""
    skewed = frame.assign(pay=[10] * 12 + [20, 90])
    people = eq.Microdata(skewed, confidential="pay", keys=["age"], domain=range(10, 100, 10))
    result = eq.assess(people, technique, known=["age"], intruder=intruder)
    told = result.facts()["verdict"]
    assert 0 <= told["share_left_unprotected"] <= told["share_left"] <= 1
    assert told["share_left"] == pytest.approx(1 - told["share_given_away"])
    assert "left" not in result.summary


def test_those_she_is_wrong_about_do_not_count_as_disclosed(frame: pd.DataFrame, tmp_path: Path) -> None:
    """A file with the classes exchanged: she is certain about everybody and right about nobody."""
    mine = pd.DataFrame({"sex": list("FFFMMM"), "pay": [10, 10, 10, 20, 20, 20]})
    released = eq.ReleasedFile(mine.assign(pay=mine.pay.to_numpy()[::-1]))
    people = eq.Microdata(mine, confidential="pay", keys=["sex"])
    told = eq.assess(people, released, intruder="paper").facts()
    assert (told["truth"]["certain_right"], told["truth"]["certain_wrong"]) == (0, 6)
    assert told["people"]["certain"] == 6
    assert told["verdict"]["headline"] == (
        "On average little is disclosed. The intruder is certain and right about nobody. She is certain but wrong "
        "about 6 people."
    )
    assert told["verdict"]["share_given_away"] == 0


def test_the_curve_of_the_surprise_stands_beside_that_of_the_uncertainty(
    facts: dict[str, Any], result: eq.Assessment
) -> None:
    told = facts["curve"]["truth"]
    assert told["eps"] == facts["curve"]["eps"] == [0.0, 10.0, 20.0, 30.0, 40.0]
    same = eq.assess(result.people, result.release, known=KNOWN, eps=told["eps"], intruder="informed")
    assert told["bits"] == pytest.approx(list(same.summary["truth"]["surprise"].values()))
    assert "H understates the risk" in told["sentence"]
    below = sum(h - t > 0.01 for t, h in zip(told["bits"], facts["curve"]["release"], strict=True))
    if below:
        assert f"below H at {below} of 5 tolerances" in told["sentence"]


def test_where_it_would_take_long_the_surprise_is_at_fewer_tolerances(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"k": rng.integers(0, 3, 60), "pay": np.cumsum(rng.random(60)).round(3)})
    result = eq.assess(eq.Microdata(frame, confidential="pay", keys=["k"]), eq.Unprotected(), known=["k"])
    assert result.facts()["curve"]["truth"]["eps"] == result.facts()["curve"]["eps"]
    monkeypatch.setattr(truth_facts, "MOST_ENTRIES", 1)
    curve = result.facts()["curve"]
    page = Markup(result.report(tmp_path / "r.html").read_text(encoding="utf-8"))
    charts = [json.loads(data) for a, data in page.scripts if a.get("data-chart") == "curve"]
    assert charts[0]["layer"][1]["mark"]["type"] == "point"
    assert len(curve["truth"]["eps"]) == len(curve["truth"]["bits"]) == truth_facts.FEW_SURPRISES
    assert len(curve["truth"]["eps"]) < len(curve["eps"])
    assert (curve["truth"]["eps"][0], curve["truth"]["eps"][-1]) == (curve["eps"][0], curve["eps"][-1])
    assert set(curve["truth"]["eps"]) <= set(curve["eps"])


def test_intruders_are_listed_and_those_left_out_have_a_reason(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"age": rng.integers(0, 5, 120)}).assign(
        pay=lambda f: (f.age + rng.integers(0, 5, 120)) * 10
    )
    people = eq.Microdata(frame, confidential="pay", keys=["age"])
    result = eq.assess(people, eq.PRAM(keep=0.6, on="confidential"))
    facts = result.facts()
    told = facts["intruders"]
    table = json.loads(result.intruders.to_json(orient="records"))
    assert [row["intruder"] for row in told["rows"]] == [row["intruder"] for row in table]
    for row, expected in zip(told["rows"], table, strict=True):
        assert row["surprise"] == pytest.approx(expected["surprise"], abs=1e-9)
    assert told["used"] == result.intruder
    words = " ".join(Markup(result.report(tmp_path / "r.html").read_text(encoding="utf-8")).text.split())
    for row in told["rows"]:
        assert row["intruder"] in words
    assert f"{result.intruder} (used)" in words
    assert "Left out: register, because no known key was changed" in words
    assert told["sentence"] in words


@pytest.mark.parametrize(
    ("options", "said", "not_said"),
    [
        ({}, "this counts as public", "of these equally likely"),
        ({"prior": "uniform"}, "she considers all of these equally likely", "counts as public"),
        ({"prior": [0.1, 0.2, 0.3, 0.2, 0.2]}, "given as her prior", "of these equally likely"),
        ({"intruder": "paper"}, "The intruder is the published one", "She has a register"),
        ({"intruder": "register"}, "She has a register", "the published one"),
    ],
)
def test_the_assumptions_are_those_that_were_used(
    frame: pd.DataFrame, options: dict[str, Any], said: str, not_said: str
) -> None:
    people = eq.Microdata(frame, confidential="pay", keys=["age", "sex"], domain=range(10, 60, 10))
    technique = eq.PRAM(keep=0.6, on="keys")
    told = " ".join(
        eq.assess(people, technique, **({"intruder": "informed"} | options)).facts()["assumptions"]
    )
    assert said in told
    assert not_said not in told
    assert technique.mechanism(people).split(". ")[0] in told


def test_neighbours_of_a_privacy_budget_are_stated(frame: pd.DataFrame) -> None:
    people = eq.Microdata(frame, confidential="pay", keys=["age"], domain=range(10, 60, 10))
    told = " ".join(eq.assess(people, eq.GeometricNoise(2), known=["age"]).facts()["assumptions"])
    assert "neighbours" in told


def test_the_spread_over_draws_is_in_facts_and_page(frame: pd.DataFrame, tmp_path: Path) -> None:
    people = eq.Microdata(frame, confidential="pay", keys=["age"])
    result = eq.assess(people, eq.Sampling(fraction=0.5), replicates=3, intruder="informed")
    facts = result.facts()
    rows = {row["name"]: row for row in facts["spread"]["rows"]}
    assert rows["surprise"]["mean"] == pytest.approx(result.spread["surprise"]["mean"])
    page = Markup(result.report(tmp_path / "r.html").read_text(encoding="utf-8"))
    assert facts["spread"]["sentence"] in " ".join(page.text.split())
    assert "spread" in {a.get("id") for tag, a in page.elements if tag == "table"}
    fixed = eq.assess(people, eq.Rounding(base=20), replicates=3).facts()["spread"]
    assert "draws nothing at random" in fixed["sentence"]
    assert eq.assess(people, eq.Rounding(base=20)).facts()["spread"] is None


def test_the_surprise_of_the_riskiest_classes(facts: dict[str, Any], result: eq.Assessment) -> None:
    records = result.records
    for row in facts["riskiest"]["classes"]:
        keys = result.posteriors.keys
        number = int(np.flatnonzero((keys.age == row["keys"][0]) & (keys.sex == row["keys"][1]))[0])
        assert row["surprise"] == pytest.approx(records.surprise_0[records["class"] == number].mean())
