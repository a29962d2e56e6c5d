"""Every fact equals an independent computation, and no fact discloses a record's values."""

from __future__ import annotations

import json
from itertools import combinations
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.render.assessment import BINS
from equivoc.render.parts import json_values
from tests.report.plain_computation import Sample, area, best_window, entropy, right_share

KNOWN = ["age", "sex"]


@pytest.fixture(scope="module")
def facts(result: eq.Assessment) -> dict[str, Any]:
    return result.facts(unit="K")


@pytest.fixture(scope="module")
def sample(frame: pd.DataFrame, result: eq.Assessment) -> Sample:
    drawn = {int(i) for i in result.release.drawn}  # type: ignore[attr-defined]
    rows = list(frame[KNOWN].itertuples(index=False, name=None))
    return Sample(rows, KNOWN, [float(v) for v in frame["pay"]], drawn)


def test_figures(facts: dict[str, Any], sample: Sample) -> None:
    h0, a, mean_entropy = facts["figures"]
    width = sample.domain[-1] - sample.domain[0]
    for figure, measure in (
        (h0, lambda b: entropy(b, 0)),
        (a, area),
        (mean_entropy, lambda b: area(b) / width),
    ):
        release = sample.over_people(KNOWN, lambda m: measure(sample.belief(m)))  # noqa: B023
        assert figure["release"] == pytest.approx(release)
        assert figure["prior"] == pytest.approx(measure(sample.prior))
        bare = sample.over_people(KNOWN, lambda m: measure(sample.truth(m)))  # noqa: B023
        assert figure["unprotected"] == pytest.approx(bare, abs=1e-12)
        per_class = sample.over_people(KNOWN, lambda m: measure(sample.belief(m)), weigh=False)  # noqa: B023
        assert figure["over_classes"]["mean"] == pytest.approx(per_class)


def test_hit_and_true_hit_rates(facts: dict[str, Any], sample: Sample) -> None:
    assert [hit["eps"] for hit in facts["hits"]] == [0.0, 10.0]
    for hit in facts["hits"]:
        eps = hit["eps"]

        def in_best(members: list[int], eps: float = eps) -> float:
            return mean(right_share(sample.belief(members), eps, sample.pay[i]) for i in members)

        def mass(members: list[int], eps: float = eps) -> float:
            return best_window(sample.belief(members), eps)[0]

        assert hit["within"] == eps / 2
        assert hit["release"] == pytest.approx(sample.over_people(KNOWN, mass))
        assert hit["true_hit"] == pytest.approx(sample.over_people(KNOWN, in_best))
    assert facts["hits"][1]["prior"] == pytest.approx(9 / 14)  # 10 and 20


def test_curve_of_the_average_person(facts: dict[str, Any], sample: Sample) -> None:
    curve = facts["curve"]
    assert curve["eps"] == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert curve["every_break_point"] is True
    for place, eps in enumerate(curve["eps"]):
        release = sample.over_people(KNOWN, lambda m: entropy(sample.belief(m), eps))  # noqa: B023
        assert curve["release"][place] == pytest.approx(release, abs=1e-12)
        bare = sample.over_people(KNOWN, lambda m: entropy(sample.truth(m), eps))  # noqa: B023
        assert curve["unprotected"][place] == pytest.approx(bare, abs=1e-12)
        assert curve["prior"][place] == pytest.approx(entropy(sample.prior, eps), abs=1e-12)


def test_curve_on_a_grid_with_many_break_points() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"k": rng.integers(0, 3, 60), "pay": np.cumsum(rng.random(60)).round(3)})
    result = eq.assess(eq.Microdata(frame, confidential="pay", keys=["k"]), eq.Unprotected(), known=["k"])
    curve = result.facts()["curve"]
    assert len(curve["eps"]) == 65
    assert curve["every_break_point"] is False
    for place in (0, 3, 40):
        expected = np.average(
            [
                eq.entropy_at(g["pay"], np.full(len(g), 1 / len(g)), curve["eps"][place])
                for _, g in frame.groupby("k")
            ],
            weights=frame.groupby("k").size(),
        )
        assert curve["release"][place] == pytest.approx(float(expected))


def test_risk_by_knowledge(facts: dict[str, Any], sample: Sample) -> None:
    assert facts["knowledge"]["every_subset"] is True
    assert [at["size"] for at in facts["knowledge"]["sizes"]] == [0, 1, 2]
    for at in facts["knowledge"]["sizes"]:
        subsets = list(combinations(KNOWN, at["size"]))
        means = [sample.mean_h0(subset) for subset in subsets]
        assert at["h0"] == pytest.approx(mean(means))
        assert (at["h0_low"], at["h0_high"]) == pytest.approx((min(means), max(means)))
        areas = [sample.over_people(s, lambda m: area(sample.belief(m))) for s in subsets]
        assert at["area"] == pytest.approx(mean(areas))
        bare = [sample.over_people(s, lambda m: area(sample.truth(m))) for s in subsets]
        assert at["area_unprotected"] == pytest.approx(mean(bare), abs=1e-12)
        pooled = [entropy(sample.belief(m), 0) for s in subsets for m in sample.classes(s).values()]
        assert at["h0_pooled"] == pytest.approx(mean(pooled))


def test_more_keys_than_subsets_can_be_measured_for() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {f"k{i}": rng.integers(0, 2, 30) for i in range(7)} | {"pay": rng.integers(1, 4, 30)}
    )
    keys = [f"k{i}" for i in range(7)]
    told = eq.assess(eq.Microdata(frame, confidential="pay", keys=keys), eq.Unprotected(), known=keys).facts()
    assert told["contributions"] is None
    assert [at["size"] for at in told["knowledge"]["sizes"]] == [0, 1, 7]
    assert told["knowledge"]["every_subset"] is False


def test_contributions(facts: dict[str, Any], sample: Sample) -> None:
    expected = sample.shapley(KNOWN)
    assert {each["key"]: each["bits"] for each in facts["contributions"]} == pytest.approx(expected)
    assert sum(each["share"] for each in facts["contributions"]) == pytest.approx(1.0)
    bits = [each["bits"] for each in facts["contributions"]]
    assert bits == sorted(bits, reverse=True)


def test_classic_measures_are_those_of_the_frame(facts: dict[str, Any], result: eq.Assessment) -> None:
    frame = eq.measures(result.people, result.release, known=KNOWN, intruder="informed")
    assert len(facts["measures"]) == len(frame) > 20
    for told, row in zip(facts["measures"], frame.to_dict("records"), strict=True):
        assert (told["measure"], told["meaning"]) == (row["measure"], row["meaning"])
        assert told["value"] == (row["value"] if np.isfinite(row["value"]) else None)


def test_distribution_over_people(facts: dict[str, Any], sample: Sample) -> None:
    people = facts["people"]
    h0 = {}
    for members in sample.classes(KNOWN).values():
        h0 |= dict.fromkeys(members, entropy(sample.belief(members), 0))
    assert len(people["h0"]) == len(people["hit"]) == BINS
    assert sum(each["people"] for each in people["h0"]) == len(sample.rows)
    assert sum(each["people"] for each in people["hit"]) == len(sample.rows)
    for place, each in enumerate(people["h0"]):
        last = place == BINS - 1
        expected = sum(each["low"] <= bits and (bits < each["high"] or last) for bits in h0.values())
        assert each["people"] == expected
    assert people["certain"] == sum(bits < 1e-9 for bits in h0.values())
    assert people["certain"] > 0


def test_riskiest_classes_and_those_too_small_to_be_named(facts: dict[str, Any], sample: Sample) -> None:
    riskiest = facts["riskiest"]
    classes = {keys: members for keys, members in sample.classes(KNOWN).items() if len(members) >= 3}
    expected = sorted(classes, key=lambda k: (round(area(sample.belief(classes[k])), 9), len(classes[k])))
    assert [tuple(row["keys"]) for row in riskiest["classes"]] == expected
    for row in riskiest["classes"]:
        members = classes[tuple(row["keys"])]
        assert row["size"] == len(members)
        assert row["area"] == pytest.approx(area(sample.belief(members)))
        assert row["hit"][1] == pytest.approx(best_window(sample.belief(members), 10)[0])
    small = [members for members in sample.classes(KNOWN).values() if len(members) < 3]
    assert riskiest["withheld"]["classes"] == len(small) > 0
    assert riskiest["withheld"]["people"] == sum(map(len, small))


def test_small_classes_are_named_only_when_asked(frame: pd.DataFrame) -> None:
    alone = frame.assign(name=[f"citizen {i:03d}" for i in range(len(frame))])
    people = eq.Microdata(alone, confidential="pay", keys=["name", "sex"])
    result = eq.assess(people, eq.Sampling(fraction=0.5), known=["name", "sex"])
    assert "citizen" not in json.dumps(result.facts())
    asked = result.facts(record_values=True)["riskiest"]
    assert asked["withheld"]["classes"] == 0
    assert len(asked["classes"]) == 10
    assert all(row["keys"][0].startswith("citizen ") for row in asked["classes"])


def test_data_and_roles(frame: pd.DataFrame) -> None:
    missing = pd.concat([frame.astype({"pay": float}), pd.DataFrame([{"age": 30, "sex": None, "pay": None}])])
    people = eq.Microdata(missing, confidential="pay", keys=["age", "sex"], drop_missing=True)
    told = eq.assess(people, eq.Unprotected(), known=["sex"]).facts()
    assert told["data"]["records"] == 14
    assert told["data"]["dropped"] == 1
    assert told["data"]["keys"] == [
        {"name": "age", "levels": 3, "known": False},
        {"name": "sex", "levels": 2, "known": True},
    ]
    assert told["data"]["confidential"] == {
        "name": "pay",
        "kind": "number",
        "unit": "",
        "measured_in": "pay",
        "values": 5,
        "low": 10.0,
        "high": 50.0,
        "exact": False,
        "words": "5 values, most of them between about 10 and 50",
    }
    assert told["technique"]["notation"] == "unprotected"


def test_the_sentence(facts: dict[str, Any]) -> None:
    rate = facts["hits"][1]["release"]
    assert facts["sentences"]["shown"] == (
        f"Knowing age and sex, an intruder is within ±5K of a random person's pay with probability {rate:.2f}."
    )


def test_seed_and_versions(facts: dict[str, Any], result: eq.Assessment) -> None:
    assert facts["seed"] == 3
    assert facts["versions"]["equivoc"] == eq.__version__
    made_before = eq.assess(result.people, result.release, known=["sex"])
    assert made_before.facts()["seed"] is None


def test_json_is_read_back_as_the_same_facts(facts: dict[str, Any]) -> None:
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_what_json_cannot_hold_becomes_null() -> None:
    told = json_values({"a": [np.nan, np.inf, np.float32(0.5)], 2: np.array([1, 2]), "b": np.bool_(True)})
    assert told == {"a": [None, None, 0.5], "2": [1, 2], "b": True}
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_one_value_only() -> None:
    people = eq.Microdata(pd.DataFrame({"pay": [7, 7]}), confidential="pay")
    told = eq.assess(people, eq.Unprotected()).facts()
    assert told["figures"][0]["release"] == 0.0
    assert told["verdict"]["gives_away"] == "little"
    assert told["people"]["certain"] == 2


def test_most_of_an_unprotected_file_is_disclosed(frame: pd.DataFrame) -> None:
    people = eq.Microdata(frame, confidential="pay", keys=["age", "sex"])
    told = eq.assess(people, eq.Unprotected(), known=["age", "sex"]).facts()
    assert told["verdict"]["gives_away"] == "most"
    assert told["verdict"]["share_left"] == pytest.approx(told["verdict"]["share_left_unprotected"])
