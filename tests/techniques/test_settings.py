"""Each technique describes its numeric parameters: ranges make valid techniques, the safer direction is safer."""

from __future__ import annotations

import itertools
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import equivoc as eq
from equivoc.notation.declared import params
from equivoc.notation.ranges import Range
from equivoc.techniques.notation import TECHNIQUES
from equivoc.techniques.technique import Technique, tried_parameters, useful_range

BESIDE: dict[tuple[str, str], dict[str, Any]] = {
    ("swapping", "window"): {"rate": 1.0},
    ("generalisation", "suppress"): {"k": 5, "hierarchies": {"age": (5, 10, 20)}},
}
"""What else a parameter needs."""
EVERY = [
    (kind, name, tries) for kind in TECHNIQUES.values() for name, tries in tried_parameters(kind).items()
]
NAMED = [f"{kind.name}:{name}" for kind, name, _ in EVERY]


def made(kind: type[Technique], name: str, value: float) -> Technique:
    return kind(**{name: value}, **BESIDE.get((kind.name, name), {}))


@pytest.fixture(scope="module")
def workers() -> eq.Microdata:
    return eq.Microdata(
        eq.datasets.load("cps_hourly_workers"),
        confidential="wage_per_hour",
        keys=["age", "sex", "education"],
        round_to=100,
    )


@pytest.mark.parametrize("kind", TECHNIQUES.values(), ids=list(TECHNIQUES))
def test_every_numeric_parameter_has_a_setting(kind: type[Technique]) -> None:
    numeric = {f.name for f in fields(kind) if {"int", "float"} & set(str(f.type).replace("|", " ").split())}
    assert set(tried_parameters(kind)) == numeric


@pytest.mark.parametrize(("kind", "name", "tries"), EVERY, ids=NAMED)
def test_the_range_makes_valid_techniques(
    kind: type[Technique], name: str, tries: Range, workers: eq.Microdata
) -> None:
    for people in (workers, tiny()):
        low, high = useful_range(name, tries, people)
        values = tries.values(low, high)
        assert values[0] == low
        assert values[-1] == high
        assert list(values) == sorted(set(values))
        assert len(values) <= 200
        for value in values:
            technique = made(kind, name, value)
            assert f"{name}={value}" in technique.notation or value == 0
    assert next(each for each in params(kind) if each.name == name).meaning


def tiny() -> eq.Microdata:
    frame = pd.DataFrame({"age": [20, 30, 40, 50, 60], "pay": [10.5, 20.25, 30, 40, 50]})
    return eq.Microdata(frame, confidential="pay", keys=["age"])


@pytest.mark.parametrize(("kind", "name", "tries"), EVERY, ids=NAMED)
def test_the_safer_direction_is_safer(
    kind: type[Technique], name: str, tries: Range, workers: eq.Microdata
) -> None:
    values = tries.values(*useful_range(name, tries, workers))
    mild_first = values if tries.stronger == "more" else values[::-1]
    at = np.linspace(0, len(values) - 1, 5).round().astype(int) if tries.monotone else [0, len(values) - 1]
    hits, h0 = zip(*(risk(workers, made(kind, name, mild_first[i])) for i in at), strict=True)
    # Two releases differ by chance by some 0.003 in the share of right guesses and 0.02 bits.
    assert (np.diff(hits) < 0.004).all(), hits
    assert (np.diff(h0) > -0.025).all(), h0
    assert hits[0] > hits[-1] + 0.01
    assert h0[0] < h0[-1] - 0.05


def risk(people: eq.Microdata, technique: Technique) -> tuple[float, float]:
    """Right guesses within 250 cents and H0, means over two releases."""
    found = [
        eq.assess(people, technique, intruder="informed", seed=seed, eps=[500]).means
        for seed in range(2 if technique.random else 1)
    ]
    return float(np.mean([each["true_hit"][500.0] for each in found])), float(
        np.mean([each["h0"] for each in found])
    )


def tries_of(**given: Any) -> Range:
    return Range(**{"low": 0, "high": 1, **given})


@pytest.mark.parametrize(
    ("given", "low", "high", "step", "values"),
    [
        ({}, 1, 4, None, (1, 2, 3, 4)),
        ({}, 0.3, 0.34, 0.01, (0.3, 0.31, 0.32, 0.33, 0.34)),
        ({}, 0, 1, 0.3, (0, 0.3, 0.6, 0.9, 1)),
        ({"step": 2, "whole": True}, 2, 7, None, (2, 4, 6)),
        ({}, 5, 5, None, (5,)),
        ({"whole": True}, 2, 3, None, (2, 3)),
    ],
)
def test_values_of_a_range(
    given: dict[str, Any], low: float, high: float, step: float | None, values: tuple[float, ...]
) -> None:
    assert tries_of(**given).values(low, high, step) == values


def test_a_range_of_fractions_has_about_a_hundred_round_values() -> None:
    values = tries_of().values(0.01, 0.9)
    assert len(values) == 90
    assert values[:3] == (0.01, 0.02, 0.03)
    assert len(tries_of(unit="value").values(0, 4500)) == 91


def test_budgets_are_tried_by_ratio() -> None:
    values = np.array(tries_of(ratio=True).values(0.01, 10))
    assert (np.diff(values) > 0).all()
    assert (values[1:] / values[:-1] < 1.15).all()


def test_values_of_the_attribute() -> None:
    assert useful_range("x", tries_of(unit="value"), tiny()) == (10.5, 50)
    assert useful_range("x", tries_of(low=0.1, unit="width"), tiny()) == (4.0, 39.5)
    assert useful_range("x", tries_of(low=2, high=100, unit="records"), tiny()) == (2, 5)
    assert useful_range("x", tries_of(low=2, high=100, step=2, unit="records"), tiny()) == (2, 4)


def test_categories_and_one_value_have_no_range_of_values() -> None:
    words = eq.Microdata(pd.DataFrame({"d": ["a", "b"]}), confidential="d")
    with pytest.raises(eq.InputError, match="holds categories"):
        useful_range("x", tries_of(unit="value"), words)
    with pytest.raises(eq.InputError, match="are equal"):
        useful_range("x", tries_of(unit="width"), eq.Microdata(pd.DataFrame({"d": [3, 3]}), confidential="d"))


def test_too_many_values_are_refused() -> None:
    with pytest.raises(eq.InputError, match="larger step"):
        tries_of().values(0, 1, 1e-9)


@given(
    low=st.floats(-1e6, 1e6) | st.integers(-100, 100) | st.floats(allow_nan=False, allow_infinity=False),
    apart=st.floats(0, 1e6) | st.integers(0, 500) | st.floats(0, 1e-300),
    step=st.none() | st.floats(1e-3, 100),
    ratio=st.booleans(),
    whole=st.booleans(),
)
@example(low=1.0, apart=2.3e-16, step=None, ratio=False, whole=False)
@example(low=0.0, apart=5e-324, step=None, ratio=False, whole=False)
@example(low=1e-300, apart=1e300, step=None, ratio=True, whole=False)
@example(low=-1.5e308, apart=1.6e308, step=None, ratio=False, whole=False)
def test_values_ascend_from_low_to_high(
    low: float, apart: float, step: float | None, ratio: bool, whole: bool
) -> None:
    told, values = "", (low, low + apart)
    try:
        values = tries_of(ratio=ratio, whole=whole).values(low, low + apart, step)
    except eq.InputError as mistake:
        told = str(mistake)
    assert told == "" or "larger step" in told or "too wide" in told
    assert (values[0], values[-1]) == (low, low + apart)
    assert told or all(a < b for a, b in itertools.pairwise(values))
