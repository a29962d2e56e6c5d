"""Several confidential attributes: the figures for all of them together, by hand and by brute force."""

from __future__ import annotations

from collections import Counter
from math import log2

import numpy as np
import pandas as pd
import pytest

import equivoc as eq


def shannon(counts: Counter[object]) -> float:
    total = sum(counts.values())
    return -sum(n / total * log2(n / total) for n in counts.values())


def test_unprotected_together_is_the_entropy_of_pairs_in_each_class() -> None:
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 3, 40),
            "pay": rng.choice([10, 20, 30], 40),
            "disease": rng.choice(list("abc"), 40),
        }
    )
    result = eq.assess(
        eq.Microdata(frame, confidential=["pay", "disease"], keys=["age"]), eq.Unprotected(), eps=0
    )
    h0 = hit = any_hit = 0.0
    for _, group in frame.groupby("age"):
        pairs = Counter(zip(group["pay"], group["disease"], strict=True))
        h0 += len(group) * shannon(pairs)
        best = max(pairs.values())
        hit += best  # she names one of the commonest pairs; ties are shared
        guesses = {name: Counter(group[name]) for name in ("pay", "disease")}
        for _, person in group.iterrows():
            missed = 1.0
            for name, counts in guesses.items():
                most = [value for value, n in counts.items() if n == max(counts.values())]
                missed *= 1 - (person[name] in most) / len(most)
            any_hit += 1 - missed
    assert result.together["h0"] == pytest.approx(h0 / 40)
    assert result.together["true_hit"] == pytest.approx(hit / 40)
    assert result.together["any_true_hit"] == pytest.approx(any_hit / 40)
    assert result.records["any_true_hit"].mean() == pytest.approx(any_hit / 40)


def test_at_least_one_is_disclosed_by_hand() -> None:
    """Women: pay is certain, disease a coin toss. Men: pay 10, 10, 20, so that 10 is guessed; disease x, y, y: y is."""
    frame = pd.DataFrame({"sex": list("FFMMM"), "pay": [10, 10, 10, 10, 20], "disease": list("xyxyy")})
    result = eq.assess(
        eq.Microdata(frame, confidential=["pay", "disease"], keys=["sex"]), eq.Unprotected(), eps=0
    )
    assert result.records["any_true_hit"].tolist() == pytest.approx([1, 1, 1, 1, 1])
    frame.loc[4, "disease"] = (
        "x"  # now x is the men's guess, and the last man has it; the fourth has neither … but pay
    )
    frame.loc[3, "pay"] = 30  # pay 10, 30, 20: each a third
    result = eq.assess(
        eq.Microdata(frame, confidential=["pay", "disease"], keys=["sex"]), eq.Unprotected(), eps=0
    )
    assert result.records["any_true_hit"].tolist() == pytest.approx([1, 1, 1, 1 / 3, 1])
    assert result.together["any_true_hit"] == pytest.approx((4 + 1 / 3) / 5)


def test_each_attribute_has_its_own_assessment_and_facts() -> None:
    frame = pd.DataFrame(
        {"sex": list("FFMM"), "pay": [50, 107, 77, 80], "disease": ["flu", "flu", "flu", "ulcer"]}
    )
    people = eq.Microdata(frame, confidential=["pay", "disease"], keys=["sex"])
    result = eq.assess(people, eq.Unprotected(), eps={"pay": [0, 10]})
    alone = eq.assess(eq.Microdata(frame, confidential="pay", keys=["sex"]), eq.Unprotected(), eps=[0, 10])
    assert result.attributes["pay"].summary == alone.summary
    facts = result.facts(units={"pay": "K"})
    assert facts["attributes"]["pay"] == alone.facts(unit="K")
    assert facts["together"]["any_true_hit"] == result.together["any_true_hit"]
    meanings = {figure["name"]: figure["meaning"] for figure in facts["together"]["figures"]}
    assert meanings["any_true_hit"].endswith("pay within ±5K, disease exact")


def test_a_control_group_of_several_attributes_is_used_for_each() -> None:
    frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 60, 70, 80], "disease": list("xxyy")})
    people, others = (eq.Microdata(frame, confidential=["pay", "disease"], keys=["sex"]) for _ in range(2))
    result = eq.assess(people, eq.ReleasedFile(frame), control=others)
    assert result.attributes["disease"].summary["control"]["true_hit"] == {0.0: 1.0}
    assert result.attributes["pay"].summary["control"]["records"] == 4


def test_functions_of_one_attribute_reject_several() -> None:
    frame = pd.DataFrame({"sex": list("FM"), "pay": [50, 60], "disease": list("xy")})
    people = eq.Microdata(frame, confidential=["pay", "disease"], keys=["sex"])
    with pytest.raises(
        eq.InputError, match="a study has one confidential attribute, but pay, disease are confidential"
    ):
        eq.Study(people, techniques=[eq.Unprotected()])
    with pytest.raises(eq.InputError, match="several confidential attributes"):
        eq.measures(people)
    with pytest.raises(eq.InputError, match="'disease' holds categories: the privacy budget"):
        eq.budget(people.of("disease"))
