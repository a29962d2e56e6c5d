"""Several random releases: how the figures vary with the draw."""

from __future__ import annotations

from statistics import mean, stdev

import numpy as np
import pandas as pd
import pytest

import equivoc as eq

RNG = np.random.default_rng(8)
FRAME = pd.DataFrame({"age": RNG.integers(0, 6, 80), "pay": RNG.integers(1, 9, 80) * 10})
T_975 = {4: 2.7764451051977987}
"""Student's quantile for the interval of five draws, from a printed table."""


def people() -> eq.Microdata:
    return eq.Microdata(FRAME, confidential="pay", keys=["age"])


def test_the_spread_is_that_of_single_assessments() -> None:
    technique = eq.Sampling(fraction=0.5)
    result = eq.assess(people(), technique, seed=3, eps=[0, 20], replicates=5)
    alone = [eq.assess(people(), technique, seed=3 + i, eps=[0, 20]) for i in range(5)]
    told = result.summary["spread"]
    assert (told["random"], told["seeds"], told["eps"]) == (True, [3, 4, 5, 6, 7], 20.0)
    figures = {
        "h0": [each.means["h0"] for each in alone],
        "area": [each.means["area"] for each in alone],
        "surprise": [each.summary["truth"]["surprise"][0.0] for each in alone],
        "gain": [each.summary["truth"]["gain"] for each in alone],
        "hit": [each.means["hit"][20.0] for each in alone],
        "true_hit": [each.summary["truth"]["true_hit"][20.0] for each in alone],
        "certain_right": [each.summary["truth"]["certain_right"] for each in alone],
    }
    for name, values in figures.items():
        found = told[name]
        assert (found["min"], found["max"]) == pytest.approx((min(values), max(values)))
        assert (found["mean"], found["sd"]) == pytest.approx((mean(values), stdev(values)))
        reach = T_975[4] * stdev(values) / 5**0.5
        assert (found["low"], found["high"]) == pytest.approx((mean(values) - reach, mean(values) + reach))
    assert told["h0"]["sd"] > 0
    assert result.means == alone[0].means  # the figures shown are those of the first seed


def test_one_release_has_no_spread_and_a_technique_without_chance_needs_no_second_one() -> None:
    assert "spread" not in eq.assess(people(), eq.Sampling(fraction=0.5)).summary
    told = eq.assess(people(), eq.Rounding(base=20), replicates=4).summary["spread"]
    assert (told["random"], told["seeds"]) == (False, [0])
    assert told["h0"]["sd"] == 0.0
    assert told["h0"]["low"] == told["h0"]["high"] == told["h0"]["mean"]


def test_several_attributes_have_a_spread_each() -> None:
    frame = FRAME.assign(tax=FRAME.pay // 20)
    both = eq.Microdata(frame, confidential=["pay", "tax"], keys=["age"])
    told = eq.assess(both, eq.Sampling(fraction=0.5), seed=3, replicates=2).attributes
    alone = eq.assess(people(), eq.Sampling(fraction=0.5), seed=3, replicates=2).spread
    assert told["pay"].spread == alone
    assert told["tax"].spread["seeds"] == [3, 4]


@pytest.mark.parametrize(
    ("given", "said"), [(0, "replicates is 0"), (2.5, r"replicates is 2\.5"), ("3", "replicates is '3'")]
)
def test_numbers_of_releases_that_make_no_sense(given: object, said: str) -> None:
    with pytest.raises(eq.InputError, match=said):
        eq.assess(people(), eq.Sampling(fraction=0.5), replicates=given)


def test_a_release_that_is_already_made_cannot_be_drawn_again() -> None:
    mine = people()
    with pytest.raises(eq.InputError, match="leave it out for an existing release"):
        eq.assess(mine, eq.Sampling(fraction=0.5).release(mine, 0), replicates=2)
