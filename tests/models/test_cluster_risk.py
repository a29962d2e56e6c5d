"""Truta's three shares against counting by hand and over all pairings."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models.of_release.record_linkage import DEFAULT_WEIGHTS, identified, truta
from equivoc.models.of_release.released_table import Crossing, crossing, released_table
from tests.models.released import KEYS, Record, files, given, microdata


def by_definition(
    records: list[Record], rows: list[Record], made_from: list[int], known: tuple[str, ...], weights: Any
) -> tuple[float, float, float]:
    """Record by record, from the definition."""
    minimal = maximal = weighted = 0.0
    for row, origin in zip(rows, made_from, strict=True):
        cell = [row[k] for k in known]
        if [records[origin][k] for k in known] != cell:
            continue
        before = sum([record[k] for k in known] == cell for record in records)
        after = sum([other[k] for k in known] == cell for other in rows)
        minimal += before == after == 1
        maximal += 1 / max(before, after)
        if before <= len(weights) and after <= len(weights[0]):
            weighted += weights[before - 1][after - 1] / weights[0][0] / max(before, after)
    return minimal / len(rows), maximal / len(rows), weighted / len(rows)


WEIGHTS = ([[1]], [[4, 2], [3, 1], [1, 0]], [[1, 0.8, 0.6, 0.4, 0.2], *([0.2] * 5 for _ in range(4))])


@hypothesis_given(files(), st.sampled_from(WEIGHTS))
def test_record_by_record(drawn: tuple[list[Record], list[Record], list[int]], weights: Any) -> None:
    people = microdata(drawn[0])
    release = given(people, drawn[1], drawn[2])
    for known in (KEYS, ("age",), ()):
        found = truta(people, release, known=known, weights=weights)
        expected = by_definition(*drawn, known, weights)
        assert (found.minimal, found.maximal, found.weighted) == pytest.approx(expected)
        assert found.minimal - 1e-12 <= found.weighted <= found.maximal + 1e-12


@hypothesis_given(files())
def test_order_and_names_change_nothing(drawn: tuple[list[Record], list[Record], list[int]]) -> None:
    records, rows, made_from = drawn
    people = microdata(records)
    found = truta(people, given(people, rows, made_from))
    ages = {20: 7.5, 21: -1.0, 25: 3.25, 40: 4.0, None: None}
    renamed = [[r | {"age": ages[r["age"]]} for r in each] for each in (records, rows)]
    other, last = microdata(renamed[0][::-1]), len(records) - 1
    again = truta(other, given(other, renamed[1][::-1], [last - i for i in made_from[::-1]]))
    assert again.__dict__ == pytest.approx(found.__dict__)


@pytest.mark.parametrize(
    ("original", "released", "own"), [(3, 2, 2), (2, 3, 1), (3, 3, 2), (1, 1, 1), (4, 1, 1)]
)
def test_the_chance_is_that_of_a_random_pairing(original: int, released: int, own: int) -> None:
    """Pair the smaller side's records with the larger side's in every way; count the right pairs."""
    people, rows = list(range(original)), [*range(own), *(-1 - i for i in range(released - own))]
    few, many = sorted((people, rows), key=len)
    ways = [sum(a == b for a, b in zip(few, other, strict=False)) for other in permutations(many, len(few))]
    class_of_one = [np.array([n]) for n in (original, released, own)]
    found = identified(Crossing(*class_of_one)).maximal
    assert found * released == pytest.approx(sum(ways) / len(ways))


def test_by_hand() -> None:
    """Ages 30, 41 41, 52 ×5, published: 1/8 unique, three classes in eight records; 1 + 0.8 + 0.2 of 8 weighted."""
    records = [{"age": a, "sex": "F", "pay": 10} for a in (30, 41, 41, 52, 52, 52, 52, 52)]
    people = microdata(records)
    found = truta(people, eq.Unprotected().release(people), known=["age"])
    assert (found.minimal, found.maximal) == (1 / 8, 3 / 8)
    assert found.weighted == pytest.approx((1 + 0.8 + 0.2) / 8)


def test_in_a_sample_the_chance_is_one_in_the_original_class() -> None:
    """Two of four people aged 30 are sampled, and the only one aged 41: (2/4 + 1)/3."""
    records = [{"age": a, "sex": "F", "pay": 10} for a in (30, 30, 30, 30, 41)]
    people = microdata(records)
    found = truta(people, given(people, [records[0], records[1], records[4]], [0, 1, 4]))
    assert found.minimal == pytest.approx(1 / 3)
    assert found.maximal == pytest.approx((2 / 4 + 1) / 3)
    assert found.weighted == pytest.approx((0.4 * 2 / 4 + 1) / 3)


def test_the_default_weights_are_those_stated() -> None:
    for F in range(1, 6):
        for f in range(1, 6):
            assert DEFAULT_WEIGHTS[F - 1, f - 1] == pytest.approx(1 - (max(F, f) - 1) / 5)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1, 2], r"shape \(2,\)"),
        ([[]], r"shape \(1, 0\)"),
        ([[1, 2], [3]], "matrix of numbers"),
        ([["a"]], "matrix of numbers"),
        ([[1, -1]], r"weights\[0\]\[1\] is -1"),
        ([[1], [float("nan")]], r"weights\[1\]\[0\] is nan"),
        ([[0, 0]], "weights.0..0. is 0"),
        ([[1, 2]], "largest weight"),
    ],
)
def test_bad_weights(people: Microdata, weights: Any, sentence: str) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        truta(people, eq.Unprotected().release(people), weights=weights)


@pytest.mark.parametrize("fraction", [0.2, 1.0])
def test_the_crossing_counts_a_sample(people: Microdata, records: list[Record], fraction: float) -> None:
    release = eq.Sampling(fraction=fraction).release(people, 3)
    classes = crossing(released_table(people, release), KEYS)
    assert classes.original.sum() == len(records)
    assert classes.released.sum() == classes.own.sum() == len(release.drawn)
    assert (classes.own <= classes.original).all()
