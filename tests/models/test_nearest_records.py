"""Spruill's share against all pairs of records."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models.of_release.record_linkage import spruill
from tests.models.released import Given, Record, files, given, microdata


def by_definition(
    records: list[Record], rows: list[Record], made_from: list[int], names: list[str], power: int
) -> float:
    """All pairs, in standard deviations; a null is at the mean, and 1 away from any value."""
    scale = {}
    for name in names:
        values = [record[name] for record in records if record[name] is not None]
        if values and pstdev(values) > 0:
            scale[name] = fmean(values), pstdev(values)

    def far(row: Record, record: Record) -> float:
        total = 0.0
        for name, (mean, spread) in scale.items():
            a, b = (0.0 if r[name] is None else (r[name] - mean) / spread for r in (row, record))
            total += abs(a - b) ** power + ((row[name] is None) != (record[name] is None))
        return total

    linked = Fraction(0)
    for row, origin in zip(rows, made_from, strict=True):
        distances = [far(row, record) for record in records]
        nearest = [i for i, d in enumerate(distances) if d <= min(distances) + 1e-7]
        linked += Fraction(origin in nearest, len(nearest))
    return float(1 - linked / len(rows))


def differ(records: list[Record], names: list[str]) -> bool:
    return any(len({r[name] for r in records if r[name] is not None}) > 1 for name in names)


@hypothesis_given(files(), st.sampled_from(["squared", "absolute"]))
def test_over_all_pairs(drawn: tuple[list[Record], list[Record], list[int]], distance: str) -> None:
    records, rows, made_from = drawn
    people = microdata(records)
    for known, names in ((None, ["age", "pay"]), (["sex"], ["pay"])):
        assume(differ(records, names))
        assume(any(row["age"] is not None for row in rows) and any(r["age"] is not None for r in records))
        found = spruill(people, given(people, rows, made_from), distance=distance, known=known)
        expected = by_definition(records, rows, made_from, names, 2 if distance == "squared" else 1)
        assert found == pytest.approx(expected, abs=1e-12)


def test_the_file_itself_is_linked_whole_unless_records_are_alike() -> None:
    frame = pd.DataFrame({"age": [30, 41, 41, 52], "pay": [10, 20, 30, 30]})
    people = Microdata(frame, confidential="pay", keys=["age"])
    release = eq.Unprotected().release(people)
    for distance in ("squared", "absolute"):
        assert spruill(people, release, distance=distance) == 0.0
    # By pay alone the last two are alike: each is found with chance 1/2.
    assert spruill(people, release, known=[]) == pytest.approx(1 / 4)


def test_squared_and_absolute_distances_differ() -> None:
    """From (0, 0), its owner at (3, 3) is √18 or 6 away, a stranger at (5, 0) is 5 away by both."""
    frame = pd.DataFrame({"x": [3.0, 5, -20, 20, -12], "pay": [3.0, 0, -20, 20, -7]})
    frame["pay"] *= frame["x"].std() / frame["pay"].std()
    unit = frame["pay"][0] / 3
    people = Microdata(frame, confidential="pay", keys=["x"])
    rows = pd.DataFrame({"x": [0.0, 5], "pay": [0.0, 0 * unit]})
    release = Given(people, rows, (0, 1))
    assert spruill(people, release, distance="squared") == 0.0
    assert spruill(people, release, distance="absolute") == 0.5


def test_a_tie_of_many_is_seen_whole() -> None:
    """Around the released record stand 90 people at one distance; one of them is its own."""
    angle = np.arange(90) * 2 * np.pi / 90
    frame = pd.DataFrame({"x": np.cos(angle), "y": np.sin(angle), "pay": 1})
    people = Microdata(frame, confidential="pay", keys=["x", "y"], domain=[1, 2])
    release = Given(people, pd.DataFrame({"x": [0.0], "y": [0.0], "pay": [1]}), (17,))
    assert spruill(people, release) == pytest.approx(1 - 1 / 90)


def test_noise_unlinks_and_a_wrong_origin_is_never_the_nearest() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=400), "pay": rng.normal(size=400)})
    people = Microdata(frame, confidential="pay", keys=["x"])
    shares = []
    for noise in (0.0, 0.02, 0.2, 2.0):
        rows = frame + rng.normal(scale=noise, size=frame.shape) if noise else frame
        shares.append(spruill(people, Given(people, rows, tuple(range(400)))))
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    assert shares[-1] > 0.95
    assert spruill(people, Given(people, frame, tuple(range(399, -1, -1)))) == 1.0


def test_units_and_order_of_rows_change_nothing(people: Microdata, records: list[Record]) -> None:
    release = eq.NoiseAddition(percent=40).release(people, 4)
    found = spruill(people, release)
    rows = release.table.to_pylist()
    order = np.random.default_rng(1).permutation(len(records))
    shuffled = microdata([records[i] for i in order])
    assert spruill(shuffled, given(shuffled, [rows[i] for i in order], list(range(40)))) == pytest.approx(
        found
    )
    cents = [[r | {"pay": 100 * r["pay"] - 3} for r in each] for each in (records, rows)]
    scaled = microdata(cents[0])
    assert spruill(scaled, given(scaled, cents[1], list(range(40)))) == pytest.approx(found)
    assert 0 < found < 1


def test_ranges_and_text_do_not_enter() -> None:
    frame = pd.DataFrame({"age": [30, 41, 52], "sex": list("FMF"), "pay": [10, 20, 30]})
    people = Microdata(frame, confidential="pay", keys=["age", "sex"])
    ranges = frame.assign(age=["30-39", "40-49", "50-59"], pay=[19, 20, 31])
    assert spruill(people, Given(people, ranges, (0, 1, 2))) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("change", "origins", "options", "sentence"),
    [
        ({}, (0, 1), {"distance": "cosine"}, "distance is 'cosine'; it must be one of squared, absolute"),
        ({}, None, {}, "it is not known from which record"),
        ({"pay": ["low", "high"]}, (0, 1), {"known": []}, "no attribute holds differing numbers"),
        ({}, (0, 1), {"known": "age"}, "must be a list"),
    ],
)
def test_bad_input(change: dict[str, Any], origins: Any, options: dict[str, Any], sentence: str) -> None:
    frame = pd.DataFrame({"age": [30, 41], "pay": [10, 20]})
    people = Microdata(frame, confidential="pay", keys=["age"])
    with pytest.raises(eq.InputError, match=sentence):
        spruill(people, Given(people, frame.assign(**change), origins), **options)
