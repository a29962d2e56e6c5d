"""Outcomes: met or not, by how much, and at the riskier end of the interval for several releases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from equivoc.requirements.outcome import outcome
from equivoc.requirements.requirement import parse_requirement


@pytest.mark.parametrize(
    ("text", "value", "meets", "missed_by"),
    [
        ("true_hit(5) <= 0.2", 0.199, True, 0.0),
        ("true_hit(5) <= 0.2", 0.2, True, 0.0),
        ("true_hit(5) <= 0.2", 0.201, False, 0.001),
        ("h0 >= 2", 1.5, False, 0.5),
        ("h0 >= 2", 2.5, True, 0.0),
        ("h0 >= 2", 2.0 - 1e-15, True, 0.0),
        ("h0 >= 2", 2.0 - 1e-9, False, 1e-9),
        ("k >= 3", 2.0, False, 1.0),
    ],
)
def test_one_release_is_judged_by_its_figure(text: str, value: float, meets: bool, missed_by: float) -> None:
    found = outcome(parse_requirement(text), [value])
    assert found.meets is meets
    assert found.missed_by == pytest.approx(missed_by, abs=1e-15)
    assert (found.value, found.low, found.high, found.releases) == (value, value, value, 1)
    assert ("not met" in found.sentence) is not meets


def test_several_releases_are_judged_at_the_riskier_end() -> None:
    values = np.random.default_rng(3).normal(0.19, 0.01, 6)
    low, high = stats.t.interval(0.95, 5, loc=values.mean(), scale=stats.sem(values))
    limit = (values.mean() + high) / 2  # the mean keeps it, the upper end does not
    found = outcome(parse_requirement(f"true_hit(5) <= {limit}"), values.tolist())
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high), rel=1e-12)
    assert not found.meets
    assert found.missed_by == pytest.approx(high - limit, rel=1e-9)
    assert outcome(parse_requirement(f"true_hit(5) <= {high + 1e-6}"), values.tolist()).meets
    least = (values.mean() + low) / 2
    assert not outcome(parse_requirement(f"h0 >= {least}"), values.tolist()).meets
    assert outcome(parse_requirement(f"h0 >= {low - 1e-6}"), values.tolist()).meets


def test_the_interval_ends_where_the_range_does() -> None:
    found = outcome(parse_requirement("hit(5) <= 1"), [0.99, 1.0, 0.4])
    assert (found.high, found.meets) == (1.0, True)
    assert outcome(parse_requirement("k >= 1"), [1.0, 2.0, 9.0]).low == 1.0


def test_equal_figures_have_no_interval() -> None:
    found = outcome(parse_requirement("true_hit(5) <= 0.2"), [0.2] * 3)
    assert (found.value, found.low, found.high, found.meets) == (0.2, 0.2, 0.2, True)


@pytest.mark.parametrize("values", [[None], [3.0, None], []])
def test_a_figure_that_does_not_apply_is_not_met(values: list[float | None]) -> None:
    for text in ("k >= 1", "k <= 100"):
        found = outcome(parse_requirement(text), values, reason="the release has no file")
        assert not found.meets
        assert (found.value, found.missed_by) == (None, None)
        assert "the release has no file" in found.sentence


def test_the_text_says_which_tolerance_was_used() -> None:
    found = outcome(parse_requirement("true_hit <= 0.2"), [0.1], eps=25.0)
    assert (found.text, found.eps) == ("true_hit(25) <= 0.2", 25.0)
    assert found.requirement.text == "true_hit <= 0.2"


def test_a_requirement_that_asks_for_risk_says_so() -> None:
    assert "asks for risk" in outcome(parse_requirement("h0 <= 2"), [1.0]).sentence
    assert "asks for risk" not in outcome(parse_requirement("h0 >= 2"), [3.0]).sentence
