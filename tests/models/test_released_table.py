"""When values of an original and a released column agree, whatever their types."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.models.of_release.released_table import crossing, released_table
from tests.models.released import Given


def agreeing(original: list[Any], released: Any) -> int:
    """How many rows of the release are in their owner's class."""
    frame = pa.table({"key": original, "pay": [1] * len(original)})
    people = Microdata(frame, confidential="pay", keys=["key"])
    release = Given(people, released, tuple(range(len(original))))
    return int(crossing(released_table(people, release), ["key"]).own.sum())


DAY = dt.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("original", "released", "expected"),
    [
        ([1, 2, None], [1.0, 2.5, None], 2),
        ([1, 2, None], ["1", "2-3", "*"], 1),
        (["a", None, "b"], ["a", None, None], 2),
        ([1.5, float("nan"), 2.0], [1.5, None, 2.0], 3),
        ([True, False], [True, True], 1),
        ([DAY, DAY], [DAY, None], 1),
        (["1", "2"], [1, 3], 1),
    ],
)
def test_values_agree_if_they_are_equal(original: list[Any], released: list[Any], expected: int) -> None:
    columns = {"key": released, "pay": [1] * len(released)}
    assert agreeing(original, pa.table(columns)) == expected
    assert agreeing(original, pd.DataFrame(columns)) == expected
    assert agreeing(original, pl.DataFrame(columns)) == expected


def test_a_class_of_either_file_is_a_class() -> None:
    people = Microdata(pd.DataFrame({"key": [1, 1, 2], "pay": [1, 2, 3]}), confidential="pay", keys=["key"])
    rows = pd.DataFrame({"key": [2, 3, 3, 4], "pay": [1, 2, 3, 4]})
    classes = crossing(released_table(people, Given(people, rows, (2, 0, 1, 1))), ["key"])
    assert classes.original.tolist() == [2, 1, 0, 0]
    assert classes.released.tolist() == [0, 1, 2, 1]
    assert classes.own.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (pd.DataFrame({"pay": [1]}), "no column 'key'"),
        (pd.DataFrame({"other": [1]}), "no records of the people's columns"),
        (pd.DataFrame({"key": [], "pay": []}), "no records of the people's columns"),
    ],
)
def test_bad_tables(rows: Any, sentence: str) -> None:
    people = Microdata(pd.DataFrame({"key": [1], "pay": [1]}), confidential="pay", keys=["key"])
    with pytest.raises(eq.InputError, match=sentence):
        crossing(released_table(people, Given(people, rows, (0,))), ["key"])


@pytest.mark.parametrize(
    "technique",
    [
        eq.Unprotected(),
        eq.Sampling(0.4),
        eq.NoiseAddition(0),
        eq.NoiseAddition(0, belief="interval"),
        eq.Rounding(20),
    ],
    ids=lambda t: t.notation,
)
def test_rows_that_were_not_changed_are_in_their_owners_class(people: Microdata, technique: Any) -> None:
    table = released_table(people, technique.release(people, 1))
    assert table.origins is not None
    assert crossing(table, ["age", "sex"]).own.sum() == table.rows == len(table.origins)
