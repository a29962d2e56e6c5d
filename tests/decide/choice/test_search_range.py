"""Ranges of settings, from Python and from text; the caller's mistakes."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.requests.ranges import search_range, search_range_from


@pytest.fixture
def people() -> eq.Microdata:
    frame = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "pay": [10, 20, 30, 40, 50, 110]})
    return eq.Microdata(frame, confidential="pay", keys=["age"])


def test_the_mildest_comes_first(people: eq.Microdata) -> None:
    more = search_range(eq.NoiseAddition, "percent", low=1, high=3).techniques(people)
    less = search_range(eq.Sampling, low=0.5, high=1, step=0.25).techniques(people)
    assert more == [eq.NoiseAddition(1), eq.NoiseAddition(2), eq.NoiseAddition(3)]
    assert less == [eq.Sampling(1), eq.Sampling(0.75), eq.Sampling(0.5)]


def test_an_instance_and_fixed_keep_other_parameters(people: eq.Microdata) -> None:
    of_instance = search_range(eq.NoiseAddition(5, edge="wrap"), low=1, high=2, step=1).techniques(people)
    of_fixed = search_range(eq.NoiseAddition, low=1, high=2, step=1, fixed={"edge": "wrap"}).techniques(
        people
    )
    assert of_instance == of_fixed == [eq.NoiseAddition(1, edge="wrap"), eq.NoiseAddition(2, edge="wrap")]


@pytest.mark.parametrize(
    ("text", "first", "last", "count"),
    [
        ("noise-addition:percent=1..100", eq.NoiseAddition(1), eq.NoiseAddition(100), 100),
        ("noise-addition", eq.NoiseAddition(1), eq.NoiseAddition(100), 100),
        (
            "noise-addition:edge=wrap",
            eq.NoiseAddition(1, edge="wrap"),
            eq.NoiseAddition(100, edge="wrap"),
            100,
        ),
        ("noise-addition:percent=10..30..10", eq.NoiseAddition(10), eq.NoiseAddition(30), 3),
        ("sampling:fraction=0.1..0.9", eq.Sampling(0.9), eq.Sampling(0.1), 81),
        ("sampling:fraction=.5...9..0.1", eq.Sampling(0.9), eq.Sampling(0.5), 5),
        ("sampling", eq.Sampling(0.9), eq.Sampling(0.17), 74),
        ("swapping:rate=0.5,window=1..9", eq.Swapping(0.5, window=1), eq.Swapping(0.5, window=9), 9),
        ("query-restriction", eq.QueryRestriction(2), eq.QueryRestriction(6), 3),
        ("microaggregation", eq.Microaggregation(2), eq.Microaggregation(6), 5),
        ("rounding", eq.Rounding(2), eq.Rounding(100), 99),
        ("top-bottom-coding:low=10..110", eq.TopBottomCoding(low=10), eq.TopBottomCoding(low=110), 101),
    ],
)
def test_text(people: eq.Microdata, text: str, first: Any, last: Any, count: int) -> None:
    found = search_range_from(text).techniques(people)
    assert (found[0], found[-1], len(found)) == (first, last, count)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("noise-addition:percent=100..1", "low must not be above high"),
        ("noise-addition:percent=20", "percent has one value; give a range"),
        ("noise-addition:percnt=1..5", "did you mean 'percent'"),
        ("noise-addition:edge=1..5", "edge is not a number; choose from percent"),
        ("noise-addition:percent=1..x", "is not a range"),
        ("noise-addition:percent=1..2..3..4", "is not a range"),
        ("noise-addition:percent=1..nan", "finite number"),
        ("noise-addition:percent=1..9..0", "step is 0"),
        ("noise-adition", "did you mean 'noise-addition'"),
        ("noise-addition:percent=1..9,colour=red", "has no parameter 'colour'"),
        ("unprotected", "no numeric parameter"),
        ("swapping:window=1..9", "swapping needs rate"),
        ("swapping:rate=0.1..1,window=1..9", "give a range to one"),
        ("sampling:fraction=0..1", "above 0"),
        ("query-restriction:size=3..5", "even number"),
        ("microaggregation:size=2.5..5", "whole number"),
    ],
)
def test_mistakes_in_text(people: eq.Microdata, text: str, told: str) -> None:
    with pytest.raises(eq.InputError, match=told):
        search_range_from(text).techniques(people)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"technique": "noise-addition", "low": 1}, "takes no parameter"),
        ({"technique": 3}, "give a technique"),
        ({"technique": eq.NoiseAddition, "parameter": "edge"}, "not a number"),
        ({"technique": eq.NoiseAddition, "parameter": "x"}, "has no parameter"),
        ({"technique": eq.NoiseAddition, "fixed": {"percent": 3}}, "cannot be in fixed"),
        ({"technique": eq.NoiseAddition, "fixed": {"colour": 3}}, "has no parameter 'colour'"),
        ({"technique": eq.NoiseAddition, "low": "1"}, "finite number"),
        ({"technique": eq.NoiseAddition, "low": 200}, "low must not be above high"),
        ({"technique": eq.NoiseAddition, "low": 10**400}, "finite number"),
        ({"technique": eq.NoiseAddition, "low": True}, "finite number"),
        ({"technique": eq.NoiseAddition, "parameter": ["percent"]}, "give its name"),
        ({"technique": eq.NoiseAddition, "fixed": "wrap"}, "fixed is 'wrap'"),
        ({"technique": eq.ReleasedFile}, "no numeric parameter"),
    ],
)
def test_mistakes_in_python(people: eq.Microdata, given: dict[str, Any], told: str) -> None:
    with pytest.raises(eq.InputError, match=told):
        search_range(**given).techniques(people)
